package link

// architecture is all that --optimize knows of a processor's instructions. There is x86-64; another one is
// another implementation, and a pair of bytes or words in package patch.
type architecture interface {
	// references calls found with the place of all that may be a reference to a wanted address. It is
	// for finding functions quickly: what is no reference does no harm, one that is left out does.
	references(text []byte, base uint64, wanted func(addr uint64) bool, found func(at uint64))

	// jumps calls found with all that may be an instruction, ending at end, that jumps or makes a pointer
	// into a place that into accepts. Bytes that only look like one are among them.
	jumps(text []byte, base uint64, into func(addr uint64) bool, found func(end, to uint64))

	// decode decodes all of a function; nil when one instruction is not known. byHand tells functions
	// written in assembly, which keep to no convention, from those that the compiler made.
	decode(entry uint64, text []byte, byHand func(addr uint64) bool) routine
}

// routine is a decoded function.
type routine interface {
	// reads calls found with each instruction, by its index, that reads a wanted address, or may. pcs are
	// the addresses of it and of the instructions before it.
	reads(wanted func(addr uint64) bool, found func(i int, pcs []uint64, addr uint64))

	// rewrite proves that the instruction, which reads a word, belongs to a test of it and nothing else, and
	// returns what to write there; or why that cannot be proved.
	rewrite(i int, word wordAt) (r rewritten, why string)

	// endsAt reports whether an instruction ends at an address, and not only bytes that look like one.
	endsAt(addr uint64) bool
}
