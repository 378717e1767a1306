package bpf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/internal/peer"
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
		got := decodeRefusal((&refusal{3, 4, 7, test.err}).encode())
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
	if r := decodeRefusal((*refusal)(nil).encode()); r != nil {
		t.Errorf("no refusal arrives as %+v", r)
	}
	if r := decodeRefusal([]byte("x")); r == nil || !strings.Contains(r.err.Error(), "reply of the guard") {
		t.Errorf("garbage arrives as %+v", r)
	}
}

// With and without a guard the same is attached, and the same is to blame.
func TestUnguarded(t *testing.T) {
	peer.Root(t)
	for _, unguarded := range []bool{false, true} {
		for _, mode := range []Mode{Multi, Events, EventsPlain} {
			// A file of 64 bytes has no site at 1<<20, in the middle of four.
			f := File{Opened: codeFile(t, 64)}
			for i, offset := range []uint64{8, 16, 1 << 20, 24} {
				f.Sites = append(f.Sites, Site{Offset: offset, Index: uint32(i)})
			}
			c, err := NewCounter(Options{Mode: mode, Unguarded: unguarded})
			if err != nil {
				t.Fatal(err)
			}
			var at *AttachError
			if err := c.Add([]File{f}, 4, nil); !errors.As(err, &at) || at.File != 0 || at.Site != 2 || !errors.Is(err, unix.EINVAL) {
				t.Errorf("unguarded %t, %v: %v, want site 2 of file 0 refused as invalid", unguarded, mode, err)
			}
			f.Sites[2].Offset = 32
			if err := c.Add([]File{f}, 4, nil); err != nil {
				t.Fatal(err)
			}
			if guarded := c.held.guard != nil; guarded == unguarded {
				t.Errorf("there is a guard: %t, want %t", guarded, !unguarded)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
