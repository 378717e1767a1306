package bpf

import (
	"debug/elf"
	"errors"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
)

// parts are one of every kind that is not a string.
func parts(t *testing.T) prog.Key {
	t.Helper()
	k := prog.Key{{}, {Source: prog.FromValue, Value: prog.Value{Kind: prog.Immediate, Disp: 1 << 40}}, {Source: prog.FromPID}, {Source: prog.FromTID}, {Source: prog.FromComm}, {Source: prog.FromCPU}, {Source: prog.FromGoroutine, Goid: 152}}
	for _, o := range synthetic(3, 10) {
		p, err := prog.OperandPart(elf.EM_X86_64, &o, 0)
		if err != nil {
			t.Fatal(err)
		}
		k = append(k, p)
	}
	return k
}

func textPart(t *testing.T, offset int) prog.Part {
	t.Helper()
	p, err := prog.RecordPart(elf.EM_X86_64, offset, 16, false, true)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The verifier takes the largest groups, those with the most parts and those of every kind, on both sides.
func TestGroupPrograms(t *testing.T) {
	peer.Root(t)
	all := parts(t)
	text := prog.Key{textPart(t, 0), textPart(t, 16), textPart(t, 240), textPart(t, 32)}
	for _, mode := range []Mode{Multi, Events, EventsPlain} {
		for i, by := range []prog.Key{text, all[:8], all[4:12]} {
			f := File{Opened: codeFile(t, 64), Sites: []prog.Site{
				{Offset: 8, Key: prog.Key{textPart(t, 8)}, By: by, Own: 1},
				{Offset: 16, Index: 1, Key: prog.Key{textPart(t, 8)}, By: by, End: true},
			}}
			l, err := NewLatency(100, 10, Options{Mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			_, err = l.Add([]File{f}, nil)
			if err := errors.Join(err, l.Close()); err != nil {
				t.Errorf("%v, group %d: %v", mode, i, err)
			}
		}
	}
}

// The verifier takes every kind of part, the largest keys, and sites whose keys differ.
func TestKeyPrograms(t *testing.T) {
	peer.Root(t)
	var keys []prog.Key
	for _, p := range parts(t) {
		keys = append(keys, prog.Key{p})
	}
	keys = append(keys, prog.Key{textPart(t, 8)})
	all := parts(t)
	for _, mode := range []Mode{Multi, Events, EventsPlain} {
		t.Run(mode.String(), func(t *testing.T) {
			f := File{Opened: codeFile(t, 16*len(keys)+16)}
			for i, k := range keys {
				f.Sites = append(f.Sites, prog.Site{Offset: uint64(16*i + 16), Index: uint32(i), Key: k, End: i%2 == 1})
			}
			l, err := NewLatency(100, 0, Options{Mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			_, err = l.Add([]File{f}, nil)
			if err := errors.Join(err, l.Close()); err != nil {
				t.Fatal(err)
			}
			// Four strings are the longest key, one more is too long.
			text := prog.Key{textPart(t, 0), textPart(t, 16), textPart(t, 240), textPart(t, 32)}
			f.Sites = []prog.Site{{Offset: 8, Key: text}, {Offset: 16, Index: 1, Key: all[:4]}, {Offset: 24, Index: 2, Key: all[4:8]}, {Offset: 32, Index: 2, Key: all[8:12]}}
			c, err := NewKeyCounter(10, Options{Mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Add([]File{f}, 3, nil); err != nil {
				t.Fatal(err)
			}
			// What fits into the keys that there are needs no table of its own.
			f.Sites = []prog.Site{{Offset: 8, Key: all[4:8]}}
			if _, err := c.Add([]File{f}, 1, nil); err != nil {
				t.Fatal(err)
			}
			if len(c.keys) != 1 || c.keys[0].layout.Size != prog.MaxKey {
				t.Errorf("%d tables, four strings are a key of %d bytes", len(c.keys), c.keys[0].layout.Size)
			}
			f.Sites = []prog.Site{{Offset: 8, Key: append(text, textPart(t, 48))}}
			if _, err := c.Add([]File{f}, 1, nil); err == nil {
				t.Error("five strings are accepted")
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
