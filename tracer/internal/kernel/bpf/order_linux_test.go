package bpf

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// batchOf returns a batch of records with these times.
func batchOf(o *timeOrder, times ...uint64) *heldBatch {
	b := o.empty()
	b.bytes = b.bytes[:0]
	for _, t := range times {
		b.bytes = binary.NativeEndian.AppendUint64(b.bytes, 8) // the length
		b.bytes = binary.NativeEndian.AppendUint64(b.bytes, t)
	}
	return b
}

// due reads all records whose turn it is.
func due(o *timeOrder) (times []uint64) {
	for r := o.next(); r != nil; r = o.next() {
		times = append(times, binary.NativeEndian.Uint64(r))
	}
	return times
}

func TestTimeOrder(t *testing.T) {
	o := &timeOrder{span: 100}
	check := func(what string, got []uint64, want ...uint64) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	o.add(batchOf(o, 1000, 990, 1010))
	check("the newest is not old enough", due(o))
	if d := o.due(1050); d != 40 {
		t.Errorf("the next is due in %d, want 40", d)
	}
	o.add(batchOf(o, 1095, 1005))
	check("one is 100 older than the newest", due(o), 990)
	o.add(batchOf(o, 980, 1106))
	check("one comes too late", due(o), 980, 1000, 1005)
	o.seen(1110)
	check("time goes by", due(o), 1010)
	o.add(batchOf(o))
	o.flush()
	check("no more come", due(o), 1095, 1106)
	if d := o.due(1); d >= 0 || o.late.Load() != 1 {
		t.Errorf("the next is due in %d, %d came late, want none and 1", d, o.late.Load())
	}
}

// Records whose times are off by less than the span come in order, each once, in memory that is not used again before.
func TestTimeOrderRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(peer.FixedSeed(t, 1), 0))
	o := &timeOrder{span: 1000}
	var want, got []uint64
	now := uint64(5000)
	for range 2000 {
		var batch []uint64
		for range r.IntN(50) {
			now += uint64(r.IntN(100))
			batch = append(batch, now-uint64(r.IntN(1000)))
		}
		want = append(want, batch...)
		o.add(batchOf(o, batch...))
		got = append(got, due(o)...)
	}
	o.flush()
	got = append(got, due(o)...)
	slices.Sort(want)
	if !slices.Equal(got, want) || o.late.Load() != 0 {
		t.Errorf("%d records, %d late, in order %t, want %d", len(got), o.late.Load(), slices.IsSorted(got), len(want))
	}
}
