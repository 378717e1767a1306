// Package link is the post-link step: it turns the markers of a finished Go executable into
// standard SDT probes.
//
// It moves nothing. It writes one word into each marker, the distance to the stub that is to
// be its address, appends sections that are never loaded (notes, the types of the arguments)
// and a new section header table, and points the ELF header there. No program header,
// segment, address or code byte changes, so the program does exactly what it did before.
//
//	image    the file as addresses: segments, relocations, the anchor
//	markers  every marker in its data
//	sites    the code that tests each, and the dictionary it passes to the slow path
//	flow     the addresses in registers, on the stack and in closures, which lead to both
//	inlined  the lines that markers are marked on, in whatever functions these are inlined
//	calls    where Mark is called rather than inlined, and why
//	types    argument types out of a dictionary
//	notes    what other tools read
//	simple   the simple markers, which are in the source alone
//	write    the new file, beside the old one, then in its place
//
// Every byte of the input is taken to be hostile. What link does not fully understand it
// refuses, and says why.
package link
