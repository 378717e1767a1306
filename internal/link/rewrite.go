package link

import (
	"errors"
	"math"

	"github.com/waymark-trace/waymark/internal/markerabi"
)

// edit replaces code by as many bytes.
type edit struct {
	addr     uint64
	old, new []byte
}

// nops are the NOPs that Intel recommends, by length. (SDM volume 2B, NOP)
var nops = [...]string{
	1: "\x90",
	2: "\x66\x90",
	3: "\x0f\x1f\x00",
	4: "\x0f\x1f\x40\x00",
	5: "\x0f\x1f\x44\x00\x00",
	6: "\x66\x0f\x1f\x44\x00\x00",
	7: "\x0f\x1f\x80\x00\x00\x00\x00",
	8: "\x0f\x1f\x84\x00\x00\x00\x00\x00",
	9: "\x66\x0f\x1f\x84\x00\x00\x00\x00\x00",
}

// fill makes b one NOP, or as few as can be.
func fill(b []byte) {
	for len(b) > 0 {
		n := copy(b, nops[min(len(b), len(nops)-1)])
		b = b[n:]
	}
}

// replace returns what to write over a pattern, and the site that comes of it, off or on.
//
// Where load, test and branch stand together, the jump takes their place at the start, so that one
// instruction is executed while off. Otherwise what stands between them must be executed in both
// states: load and test become NOPs, and the jump stays where it was.
func (f *function) replace(p *pattern, word wordAt) ([]edit, siteOf, error) {
	target, _ := f.targetOf(p.jump)
	begin, end := p.jump.at, p.jump.end()
	var edits []edit
	if p.adjacent {
		begin = p.load.at
	} else {
		edits = append(edits, f.edit(p.load.at, p.load.end()))
		if p.test != p.load {
			edits = append(edits, f.edit(p.test.at, p.test.end()))
		}
		for i := range edits {
			fill(edits[i].new)
		}
	}
	e := f.edit(begin, end)
	fill(e.new)
	s := siteOf{addr: f.entry + uint64(begin), word: word.addr}
	jump, test := byte(markerabi.JumpShort), byte(markerabi.TestShort)
	switch near := target - (begin + 5); {
	case len(e.new) >= 2 && target-(begin+2) >= math.MinInt8 && target-(begin+2) <= math.MaxInt8:
		e.new[1] = byte(target - (begin + 2))
		fill(e.new[2:])
	case len(e.new) >= 5 && near >= math.MinInt32 && near <= math.MaxInt32:
		jump, test = markerabi.JumpNear, markerabi.TestNear
		le.PutUint32(e.new[1:], uint32(near))
		fill(e.new[5:])
	default:
		return nil, s, errors.New("no room for a jump")
	}
	s.off, s.on = test, jump
	if p.jumpsWhenOff {
		s.off, s.on = jump, test
	}
	e.new[0] = s.off
	if word.live {
		e.new[0] = s.on
	}
	s.first = e.new[0]
	return append(edits, e), s, nil
}

func (f *function) edit(from, to int) edit {
	return edit{f.entry + uint64(from), append([]byte(nil), f.text[from:to]...), make([]byte, to-from)}
}

// siteOf is a site of the site table.
type siteOf struct {
	addr    uint64
	word    uint64
	off, on byte
	first   byte // the one in the file
}
