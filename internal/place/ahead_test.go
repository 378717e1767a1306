package place

import (
	"encoding/hex"
	"reflect"
	"testing"

	"github.com/waymark-trace/waymark/internal/variable"
)

// flowOf decodes code that is at address 0x10.
func flowOf(t *testing.T, text string) *flow {
	t.Helper()
	code, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	fl := &flow{ranges: [][2]uint64{{0x10, 0x10 + uint64(len(code))}}, code: map[uint64]*instruction{}, into: map[uint64][]uint64{}}
	for at := 0; at < len(code); {
		in := decode(code[at:], 0x10+uint64(at))
		if in.size == 0 {
			t.Fatalf("%s is not known at %d", text, at)
		}
		fl.code[in.address] = &in
		fl.order = append(fl.order, in.address)
		if in.target != 0 && in.jumps {
			fl.into[in.target] = append(fl.into[in.target], in.address)
		}
		at += in.size
	}
	return fl
}

// What an instruction does to the registers that locations name, by the numbers of DWARF.
func TestAhead(t *testing.T) {
	from := []uint64{0x10}
	for text, want := range map[string]variable.Ahead{
		"4889fb":       {From: from, Changes: 1 << 3, Copies: true, Of: 5, To: 3},   // mov %rdi,%rbx
		"4189d4":       {From: from, Changes: 1 << 12, Copies: true, Of: 1, To: 12}, // mov %edx,%r12d
		"8b07":         {From: from, Changes: 1, Fresh: 1},                          // mov (%rdi),%eax
		"8b442408":     {From: from, Changes: 1},                                    // mov 8(%rsp),%eax, which it put there itself
		"4000ff":       {From: from, Changes: 1 << 5},                               // add %dil,%dil
		"83c0ff":       {From: from, Changes: 1},                                    // add $-1,%eax
		"39c7":         {From: from},                                                // cmp %eax,%edi
		"8907":         {From: from},                                                // mov %eax,(%rdi)
		"50":           {From: from},                                                // push %rax
		"e800000000":   {From: from, Changes: 0x0f37, Fresh: 1},                     // call
		"c3":           {},                                                          // ret
		"7500":         {From: []uint64{0x10, 0x10}},                                // jne to what follows, both ways
		"f20f10442408": {From: from},                                                // movsd 8(%rsp),%xmm0
	} {
		fl := flowOf(t, text+"90")
		j := judge{flow: fl, candidate: candidate{address: 0x10 + uint64(len(text)/2)}}
		if got := j.ahead(1); !reflect.DeepEqual(got, want) && (len(got.From) > 0 || len(want.From) > 0) {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}

// A loop is what leads from the marker back to it, and nothing else.
func TestLoop(t *testing.T) {
	fl := flowOf(t, "90"+"9090"+"75fc"+"c3") // nop; again: nop; nop; jne again; ret
	for address, want := range map[uint64]int{0x10: 0, 0x11: 3, 0x12: 3, 0x13: 3, 0x15: 0} {
		j := judge{flow: fl, candidate: candidate{address: address}}
		if got := j.loop(); len(got) != want {
			t.Errorf("%#x: %v, want %d instructions", address, got, want)
		}
	}
}
