package link

import (
	"cmp"
	"debug/elf"
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

// x86 is x86-64: decode.go, prove.go, liveness.go, effects.go, rewrite.go; registers.go, simple_code.go.
type x86 struct{}

func (x86) relative() uint32 { return uint32(elf.R_X86_64_RELATIVE) }

// references tries every four bytes as the displacement from the end of an instruction, with or without an
// immediate byte behind it.
func (x86) references(text []byte, base uint64, wanted func(uint64) bool, found func(at uint64)) {
	for i := 0; i+4 <= len(text); i++ {
		at := base + uint64(i)
		to := at + 4 + uint64(int64(int32(le.Uint32(text[i:]))))
		if wanted(to) || wanted(to+1) {
			found(at)
		}
	}
}

// jumps tries every four bytes as the displacement of a CALL, JMP, Jcc or LEA.
func (x86) jumps(text []byte, base uint64, into func(uint64) bool, found func(end, to uint64)) {
	for i := 2; i+4 <= len(text); i++ {
		end := base + uint64(i) + 4
		to := end + uint64(int64(int32(le.Uint32(text[i:]))))
		if into(to) && leads(text[i-2], text[i-1]) {
			found(end, to)
		}
	}
}

// leads reports whether a displacement behind these two bytes may be where the program goes on, or a
// pointer that it makes: CALL, JMP, Jcc, LEA.
func leads(a, b byte) bool {
	return b == 0xe8 || b == 0xe9 || a == 0x0f && b&0xf0 == 0x80 || a == 0x8d && b&0xc7 == 0x05
}

func (x86) decode(entry uint64, text []byte, byHand func(uint64) bool) routine {
	f := decodeFunction(entry, text)
	if f == nil {
		return nil
	}
	f.byHand = byHand
	return f
}

func (f *function) reads(wanted func(uint64) bool, found func(int, []uint64, uint64)) {
	var pcs []uint64
	for i := range f.insts {
		in := &f.insts[i]
		pc := f.entry + uint64(in.at)
		pcs = append(pcs, pc)
		if to, relative := pcRelative(&in.Inst, pc); relative && in.Op != x86asm.LEA && wanted(to) {
			found(i, pcs, to)
		}
	}
}

func (f *function) rewrite(i int, word wordAt) (r rewritten, why string) {
	p, why := f.prove(i)
	if why != "" {
		return r, why
	}
	edits, site, err := f.replace(&p, word)
	if err != nil {
		return r, err.Error()
	}
	return rewritten{begin: f.entry + uint64(p.begin()), end: f.entry + uint64(p.jump.end()), edits: edits, site: site}, ""
}

func (f *function) endsAt(addr uint64) bool {
	_, found := slices.BinarySearchFunc(f.insts, int(addr-f.entry), func(in instruction, end int) int { return cmp.Compare(in.end(), end) })
	return found
}
