package gocode

import "testing"

// letters decodes code of one letter an instruction: a digit behind b and j is where they lead.
func letters(text []byte, addr uint64) (Instruction, bool) {
	in := Instruction{Addr: addr, Len: 1}
	switch text[0] {
	case '.':
	case 'n':
		in.Kind = Nop
	case 's':
		in.Kind = Store
	case 'c':
		in.Kind = Call
	case 'r':
		in.Kind = Return
	case 't':
		in.Kind = Jump // by a table
	case 'b', 'j':
		in.Kind, in.Len = map[byte]Kind{'b': Branch, 'j': Jump}[text[0]], 2
		if len(text) > 1 {
			in.Target = uint64(text[1]-'0') + 0x10
		}
	default:
		return in, false
	}
	return in, true
}

// Straight code begins behind what leads elsewhere, and where something else leads in.
func TestFirst(t *testing.T) {
	for text, want := range map[string]string{ // for each instruction, which begins its straight code
		"...r":    "0000",
		".b3.s":   "0022", // behind the branch; the target of it is behind as well
		".b5..sr": "002244",
		".c.s":    "0022",
		"j3.s":    "012",
		"t.s":     "011",
	} {
		c := decode([]byte(text), 0x10, letters)
		if c == nil {
			t.Fatalf("%s is not decoded", text)
		}
		got := ""
		for i := range c.insts {
			got += string(rune('0' + c.first(i)))
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Where jumps by a table lead, straight code begins as well.
func TestEnteredByTable(t *testing.T) {
	c := decode([]byte("t.s.r"), 0x10, letters)
	if c.first(3) != 1 {
		t.Fatalf("straight code begins at %d", c.first(3))
	}
	c.enteredByTable(0x12)
	if c.first(3) != 2 || c.first(1) != 1 {
		t.Errorf("straight code begins at %d and %d", c.first(3), c.first(1))
	}
}

// The search follows jumps, ends where there are two ways, and comes to an end in a loop.
func TestUntil(t *testing.T) {
	stores := func(in *Instruction) bool { return in.Kind == Store }
	for text, want := range map[string]uint64{
		"..s": 0x12, "j3.s": 0x13, ".b3s": 0, "r.s": 0, "t.s": 0, "j0": 0, ".j0s": 0, ".c.s": 0x13,
	} {
		got := uint64(0)
		if in := decode([]byte(text), 0x10, letters).until(0x10, stores); in != nil {
			got = in.Addr
		}
		if got != want {
			t.Errorf("%s: %#x, want %#x", text, got, want)
		}
	}
	if decode([]byte("..?"), 0x10, letters) != nil || decode([]byte("b"), 0x10, letters) != nil {
		t.Error("decoded what is not known, or is cut off")
	}
}
