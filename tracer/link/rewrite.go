package link

import (
	"errors"
	"math"

	"golang.org/x/arch/x86/x86asm"

	"github.com/waymark-trace/waymark/internal/markerabi"
)

// edit replaces code by as many bytes.
type edit struct {
	addr     uint64
	old, new []byte
}

// nops are the NOPs that Intel recommends, by length (SDM volume 2B, NOP), and the two that GNU as adds.
var nops = [...]string{
	1:  "\x90",
	2:  "\x66\x90",
	3:  "\x0f\x1f\x00",
	4:  "\x0f\x1f\x40\x00",
	5:  "\x0f\x1f\x44\x00\x00",
	6:  "\x66\x0f\x1f\x44\x00\x00",
	7:  "\x0f\x1f\x80\x00\x00\x00\x00",
	8:  "\x0f\x1f\x84\x00\x00\x00\x00\x00",
	9:  "\x66\x0f\x1f\x84\x00\x00\x00\x00\x00",
	10: "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00",
	11: "\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00",
}

// Pad makes b one NOP, or as few as can be.
func Pad(b []byte) {
	for len(b) > 0 {
		n := copy(b, nops[min(len(b), len(nops)-1)])
		b = b[n:]
	}
}

// replace returns what to write over a pattern, and the site that comes of it, off or on.
//
// Where load, test and branch stand together, the jump takes their place at the start, so that one
// instruction is executed while off, and one NOP where off is to fall through. Otherwise what stands between
// them must be executed in both states: the load becomes a NOP, and the jump stays where it was.
func (f *function) replace(p *pattern, word wordAt) ([]edit, siteOf, error) {
	begin, end := p.load.at, p.jump.end()
	var edits []edit
	if !p.adjacent {
		edits = append(edits, f.nop(p.load))
		switch {
		case p.joined:
			begin = p.test.at
		case p.test != p.load:
			edits = append(edits, f.nop(p.test))
			fallthrough
		default:
			begin = p.jump.at
		}
	}
	e := f.edit(begin, end)
	s := siteOf{addr: f.entry + uint64(begin), word: word.addr, prefixed: p.prefixed}
	if !f.jumpEither(p, begin, e.new, &s) && !f.jumpOne(p, begin, e.new, &s) {
		return nil, s, errors.New("no room for a jump")
	}
	s.first = s.off
	if word.live {
		s.first = s.on
	}
	e.new[0] = s.first
	if s.on == markerabi.JumpShort || s.on == markerabi.TestShort {
		s.operand[0] = e.new[1]
	} else {
		copy(s.operand[:], e.new[1:])
	}
	if p.prefixed {
		e.addr--
		e.old = append([]byte{nops[1][0]}, e.old...)
		e.new = append([]byte{markerabi.SitePrefix}, e.new...)
	}
	return append(edits, e), s, nil
}

// jumpOne has the site jump where the pattern does, and fall through where that does.
func (f *function) jumpOne(p *pattern, begin int, b []byte, s *siteOf) bool {
	target, _ := f.targetOf(p.jump)
	if near := target - (begin + 5); !p.jumpsWhenOff && len(b) >= 5 && isInt32(near) && x86asm.RAX <= p.reg && p.reg <= x86asm.RDI {
		// Nobody is to read the register, and a MOV into it waits for nothing; TEST would for RAX.
		le.PutUint32(b[1:], uint32(near))
		Pad(b[5:])
		s.off, s.on = markerabi.MoveNear+byte(p.reg-x86asm.RAX), markerabi.JumpNear
		return true
	}
	test, jump, n := putJump(b, begin, target)
	if n == 0 {
		return false
	}
	Pad(b[n:])
	s.off, s.on = test, jump
	if p.jumpsWhenOff {
		s.off, s.on = jump, test
	}
	return true
}

// jumpEither has the site jump in both states where another jump is all that follows a JNE: to that one's
// target while off, and past a TEST to the slow path while on. To fall through into a jump would be more to execute.
func (f *function) jumpEither(p *pattern, begin int, b []byte, s *siteOf) bool {
	if p.behind == nil {
		return false
	}
	target, ok := f.targetOf(p.behind)
	if !ok {
		return false
	}
	test, jump, n := putJump(b, begin, target)
	if n == 0 {
		return false
	}
	slow, _ := f.targetOf(p.jump)
	_, always, m := putJump(b[n:], begin+n, slow)
	if m == 0 {
		return false
	}
	b[n] = always
	Pad(b[n+m:])
	s.off, s.on = jump, test
	return true
}

// putJump puts into b, which lies at offset begin, the operand of a jump to an offset. It returns the first byte of
// the jump, and of the TEST that has the same operand, and the length of both; 0 where there is no room.
func putJump(b []byte, begin, target int) (test, jump byte, n int) {
	short, near := target-(begin+2), target-(begin+5)
	switch {
	case len(b) >= 2 && short >= math.MinInt8 && short <= math.MaxInt8:
		b[1] = byte(short)
		return markerabi.TestShort, markerabi.JumpShort, 2
	case len(b) >= 5 && isInt32(near):
		le.PutUint32(b[1:], uint32(near))
		return markerabi.TestNear, markerabi.JumpNear, 5
	}
	return 0, 0, 0
}

func (f *function) nop(in *instruction) edit {
	e := f.edit(in.at, in.end())
	Pad(e.new)
	return e
}

func (f *function) edit(from, to int) edit {
	return edit{f.entry + uint64(from), append([]byte(nil), f.text[from:to]...), make([]byte, to-from)}
}

func isInt32(n int) bool { return int(int32(n)) == n }

// siteOf is a site of the site table.
type siteOf struct {
	addr    uint64
	word    uint64
	off, on byte
	first   byte // the one in the file

	operand  [4]byte // of the instruction
	prefixed bool    // the instruction begins a byte before
}
