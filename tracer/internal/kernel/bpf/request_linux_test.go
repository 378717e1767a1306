package bpf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
	"golang.org/x/sys/unix"
)

func TestDecodeRequest(t *testing.T) {
	want := &request{Mode: Events, PIDs: []int{7}, Files: 1, Batches: []batch{
		{File: 0, Program: 1, Sites: []spot{{Offset: 1<<64 - 1, Counter: 1<<63 + 1, Cookie: 1<<62 + 1}}},
	}}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeRequest(b, 3)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-sent +got):\n%s", diff)
	}
	for i := range b {
		if got, err := decodeRequest(b[:i], 3); err == nil {
			t.Errorf("%q is read as %+v", b[:i], got)
		}
	}
	for _, bad := range []string{"", "null", "[]", `{"Mode":0}`, `{"Mode":9}`, `{"Mode":-1}`, `{"Mode":1,"PIDs":[-1]}`, `{"Mode":1,"PIDs":[7,0]}`,
		`{"Mode":1,"Files":4}`, `{"Mode":1,"Files":-1}`, `{"Mode":1,"Files":1,"Batches":[{}]}`,
		`{"Mode":1,"Files":1,"Batches":[{"File":1,"Sites":[{}]}]}`, `{"Mode":1,"Files":1,"Batches":[{"Program":2,"Sites":[{}]}]}`,
		`{"Detach":7}`, `{"Detach":-7}`, `{"Stop":{"Process":7,"Thread":0}}`, `{"Release":-1}`,
		`{"Mode":1,"Files":3,"Batches":[{"Sites":[{}]}]}`, `{"Mode":1,"Files":1,"Batches":[{"File":-1,"Sites":[{}]}]}`} {
		if got, err := decodeRequest([]byte(bad), 3); err == nil {
			t.Errorf("%s is read as %+v", bad, got)
		}
	}
}

func FuzzDecodeRequest(f *testing.F) {
	f.Add(`{"Mode":1,"PIDs":[1],"Files":1,"Batches":[{"File":0,"Program":0,"Sites":[{"Offset":1,"Counter":2,"Cookie":3}]}]}`, 2)
	f.Fuzz(func(t *testing.T, s string, descriptors int) {
		r, err := decodeRequest([]byte(s), descriptors)
		if err != nil {
			return
		}
		// What the guard does with it, without the kernel.
		fds := make([]struct{}, min(descriptors, 1<<20))
		files, programs := fds[:r.Files], fds[r.Files:]
		for i := range r.Batches {
			_, _, _ = files[r.Batches[i].File], programs[r.Batches[i].Program], r.Batches[i].Sites[0]
		}
	})
}

func TestRefusalKeepsItsMeaning(t *testing.T) {
	for _, test := range []struct {
		err error
		is  []error
		not []error
	}{
		{fmt.Errorf("attaching: %w", unix.EINVAL), []error{unix.EINVAL}, []error{ErrNotSupported, fs.ErrNotExist}},
		{unix.EACCES, []error{unix.EACCES, os.ErrPermission}, []error{ErrNotSupported}},
		{fmt.Errorf("%w (no process)", os.ErrNotExist), []error{os.ErrNotExist}, []error{ErrNotSupported}},
		{fmt.Errorf("links: %w", ErrNotSupported), []error{ErrNotSupported}, []error{unix.EINVAL}},
	} {
		r := refusal{3, 4, 7, test.err}
		all := decodeAnswer((&answer{refused: &r, skipped: []refusal{r, r}}).encode())
		if len(all.skipped) != 2 || all.skipped[1].err.Error() != test.err.Error() {
			t.Errorf("two that are skipped arrive as %+v", all.skipped)
		}
		got := all.refused
		if got.batch != 3 || got.site != 4 || got.pid != 7 || got.err.Error() != test.err.Error() {
			t.Errorf("%v arrives as %+v", test.err, got)
		}
		for _, is := range test.is {
			if !errors.Is(got.err, is) {
				t.Errorf("%v is not %v any more", test.err, is)
			}
		}
		for _, not := range test.not {
			if errors.Is(got.err, not) {
				t.Errorf("%v became %v", test.err, not)
			}
		}
	}
	if a := decodeAnswer((&answer{}).encode()); a.refused != nil || a.skipped != nil {
		t.Errorf("no refusal arrives as %+v", a)
	}
	if a := decodeAnswer([]byte("x")); a.refused == nil || !strings.Contains(a.refused.err.Error(), "reply of the guard") {
		t.Errorf("garbage arrives as %+v", a)
	}
}

// With and without a guard the same is attached, and the same is to blame: a site that the kernel
// refuses costs itself, and all of them everything.
func TestSkips(t *testing.T) {
	peer.Root(t)
	for _, unguarded := range []bool{false, true} {
		for _, mode := range []Mode{Multi, Events, EventsPlain} {
			t.Run(fmt.Sprint(mode, unguarded), func(t *testing.T) {
				c, err := NewCounter(Options{Mode: mode, Unguarded: unguarded})
				if err != nil {
					t.Fatal(err)
				}
				if guarded := c.held.guard != nil; guarded == unguarded {
					t.Errorf("there is a guard: %t, want %t", guarded, !unguarded)
				}
				// A file of 64 bytes has no site at 1<<20.
				f := File{Opened: codeFile(t, 64)}
				add := func(offsets ...uint64) (skipped []int, err error) {
					f.Sites = nil
					for i, offset := range offsets {
						f.Sites = append(f.Sites, prog.Site{Offset: offset, Index: uint32(i)})
					}
					all, err := c.Add([]File{f}, len(offsets), nil)
					for _, at := range all {
						if at.File != 0 || !errors.Is(at, unix.EINVAL) {
							t.Errorf("skipped in file %d: %v", at.File, at)
						}
						skipped = append(skipped, at.Site)
					}
					return skipped, err
				}
				const bad = 1 << 20
				if skipped, err := add(8, 16, bad, 24, bad+8); err != nil || !slices.Equal(skipped, []int{2, 4}) {
					t.Errorf("skipped %v (%v), want 2 and 4", skipped, err)
				}
				if skipped, err := add(32, 40); err != nil || skipped != nil {
					t.Errorf("skipped %v (%v), want none", skipped, err)
				}
				var at *AttachError
				if _, err := add(bad, bad+8); !errors.As(err, &at) || at.File != 0 || at.Site != 0 || !errors.Is(err, unix.EINVAL) {
					t.Errorf("nothing but sites that are not there: %v", err)
				}
				many := []uint64{8}
				for i := range uint64(maxSkipped + 1) {
					many = append(many, bad+i)
				}
				if _, err := add(many...); !errors.As(err, &at) || at.Site != 1 {
					t.Errorf("%d sites that are not there: %v", maxSkipped+1, err)
				}
				if n, err := c.Read(); err != nil || len(n) != 7 {
					t.Errorf("%d counts (%v), want those of what was added", len(n), err)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
