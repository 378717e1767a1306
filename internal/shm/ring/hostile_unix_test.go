//go:build unix

package ring

import (
	"path/filepath"
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
