package ring_test

import (
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/shm/recorder"
	"github.com/waymark-trace/waymark/internal/shm/ring"
)

// What was kept is what there was then, however often the ring is gone round before it is read.
func TestKeep(t *testing.T) {
	s, err := recorder.Start(recorder.Options{
		Dir: t.TempDir(), Name: "a", Patterns: []string{"ringtest:counted"}, Size: 256 << 10, Mode: ring.Overwrite,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	mark := func(writer uint32, n int) {
		for seq := range uint64(n) {
			p := pad(seq)
			counted.Mark(writer, seq, p)
		}
	}
	r := openRings(t, s.Path())
	defer r.Close()
	mark(1, 20_000)
	if err := r.Keep(); err != nil {
		t.Fatal(err)
	}
	mark(2, 50_000)
	l := newLedger(t)
	l.drain(r, 1<<30)
	full, missed, other := lost(t, r)
	if l.received == 0 || l.received+missed != 20_000 || full+other != 0 || len(l.seen[2]) != 0 || !l.seen[1][19_999] {
		t.Errorf("%d events and %d missed of 20000, %d full, %d others; %d are of later", l.received, missed, full, other, len(l.seen[2]))
	}
}

// Copies are whole and without gaps while writers go round at full rate.
func TestKeepBesideWriters(t *testing.T) {
	s, err := recorder.Start(recorder.Options{
		Dir: t.TempDir(), Name: "a", Patterns: []string{"ringtest:counted"}, Size: 512 << 10, Mode: ring.Overwrite,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	each := 1_000_000
	if testing.Short() {
		each = 100_000
	}
	done := make(chan uint64)
	go func() { done <- hurry(4, each, func(int) {}) }()
	for copies, over := 0, false; !over; copies++ {
		select {
		case <-done:
			over = true
		case <-time.After(time.Millisecond):
		}
		r := openRings(t, s.Path())
		if err := r.Keep(); err != nil {
			t.Fatal(err)
		}
		l := newLedger(t)
		l.drain(r, 1<<30)
		if _, missed, _ := lost(t, r); missed != l.gaps {
			t.Errorf("copy %d: %d events, %d were missed, the numbers have gaps of %d", copies, l.received, missed, l.gaps)
		}
		if over && l.received == 0 {
			t.Error("nothing was kept of what nobody writes any more")
		}
		r.Close()
	}
}
