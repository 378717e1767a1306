//go:build unix

package ring

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/clock"
)

// A client with a writable mapping may change every word of it: the program neither faults nor
// miscounts.
func TestScribble(t *testing.T) {
	for _, mode := range []Mode{Discard, Overwrite} {
		f, err := Create(filepath.Join(t.TempDir(), "a.ring"), Options{Info: Info{Mode: mode, Clock: clock.Monotonic}, Rings: 2, Size: 8192, Table: 4096})
		if err != nil {
			t.Skip(err) // a platform without files of rings
		}
		defer f.Close()
		e := &Event{Point: event.Point{Provider: "a", Name: "b"}}
		for n, v := range []uint64{1 << 63, 1<<64 - 1, 1<<64 - 8, f.g.table, f.g.table - 8, f.g.size() - f.g.tableAt() - 4, 3} {
			// All of the file but the table: the header from its mutable words on, and the rings.
			for _, part := range [][2]uint64{{64, infoAt}, {f.g.controlAt(0), f.g.size()}} {
				for at := part[0]; at < part[1]; at += 8 {
					*(*uint64)(f.at(at)) = v
				}
			}
			if got, err := f.Define(e); err != nil || got != n {
				t.Errorf("%s, words of 0x%x: event %d, %v; want %d", mode, v, got, err, n)
			}
			f.Sync()
			w := &f.Writers()[0]
			for range 100 {
				if size := uint64(RecordHeader); w.Fits(size, 0, 1) || w.Begin(size, 0, 1) {
					w.Commit(size)
				}
			}
			w.Filtered()
			w.Truncated()
		}
		var lost, all [2]uint64
		ring := 0
		f.Counts(func(events, full, filtered, truncated uint64) {
			lost[ring], all[ring] = full, events+full
			if want := uint64(7 * (1 - ring)); filtered != want || truncated != want {
				t.Errorf("%s, ring %d: %d filtered, %d truncated, want %d of each", mode, ring, filtered, truncated, want)
			}
			ring++
		})
		if all != [2]uint64{700, 0} || mode == Overwrite && lost[0] != 0 {
			t.Errorf("%s: %d events in all, %d lost of 700 and 0", mode, all, lost)
		}
	}
}

// declares returns a file with holes that stores the header of a sample, and in each of its rings some
// words, by their offset.
func declares(t *testing.T, mode Mode, g geometry, words map[uint64]uint64) string {
	t.Helper()
	text := sample(t, mode)
	put := binary.NativeEndian
	put.PutUint32(text[16:], uint32(g.rings))
	put.PutUint32(text[20:], uint32(g.subs))
	put.PutUint64(text[24:], g.sub)
	path := filepath.Join(t.TempDir(), "holes.ring")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	write := func(b []byte, at uint64) {
		if _, err := f.WriteAt(b, int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	write(text[:g.controlAt(0)], 0)
	for ring := range g.rings {
		write(put.AppendUint64(nil, g.ringSize()), g.controlAt(ring)) // head
		for at, word := range words {
			write(put.AppendUint64(nil, word), g.dataAt(ring)+at)
		}
	}
	if err := f.Truncate(int64(g.size())); err != nil {
		t.Skip(err)
	}
	return path
}

// A small file cannot make its reader take much memory, or much time, by the rings that it declares.
func TestHoles(t *testing.T) {
	long := map[uint64]uint64{}
	for at := uint64(subHeaderSize); at+maxRecord < 1<<30; at += maxRecord {
		long[at] = recordWord(0, maxRecord)
	}
	for name, tt := range map[string]struct {
		words   map[uint64]uint64
		limited bool
	}{"nothing": {}, "long records": {long, true}} {
		for _, mode := range []Mode{Discard, Overwrite} {
			g := geometry{page: uint64(max(os.Getpagesize(), 4096)), rings: 6, subs: 2, sub: 1 << 30, table: 1024, mode: mode}
			path := declares(t, mode, g, tt.words)
			info, err := os.Stat(path)
			if err != nil || stored(info) >= g.size() {
				t.Skip("a file system without holes: ", err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = readAll(t, path, true)
			runtime.ReadMemStats(&after)
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 64 {
				t.Errorf("%s, %s: %d MiB for a file that stores %d KiB", name, mode, took, stored(info)>>10)
			}
			var limit *LimitError
			if errors.As(err, &limit) != tt.limited || err == nil {
				t.Errorf("%s, %s: error %v, want a limit: %t", name, mode, err, tt.limited)
			}
		}
	}
}
