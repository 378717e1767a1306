package join

import (
	"testing"

	"github.com/waymark-trace/waymark/marker"
)

func TestPutGivesWay(t *testing.T) {
	table := NewTable[int]()
	a := Key{number: 7}
	if table.Put(a, 1) {
		t.Error("the first value took another's place")
	}
	if !table.Put(a, 2) {
		t.Error("a second value of one key: nothing was lost")
	}
	if v, ok := table.Take(a); v != 2 || !ok {
		t.Errorf("took %d, %v, want the later one", v, ok)
	}
	if _, ok := table.Take(a); ok {
		t.Error("took it twice")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	table := NewTable[int]()
	lost := 0
	const n = 3 * MaxOpen
	for i := range n {
		if table.Put(Key{number: uint64(i)}, i) {
			lost++
		}
		if v, ok := table.Take(Key{number: uint64(i)}); !ok || v != i {
			t.Fatalf("the value just put is not there: %d, %v", v, ok)
		}
		table.Put(Key{number: uint64(i)}, i)
	}
	if left := table.Len(); left > MaxOpen || left < MaxOpen/2 {
		t.Errorf("%d values are left, want at most %d and not far from it", left, MaxOpen)
	}
	if lost == 0 {
		t.Error("nothing was lost")
	}
	full := 0
	for i := range n {
		if !table.Add(Key{number: uint64(n + i)}, i) {
			full++
		}
	}
	if table.Len() > MaxOpen || full < n-MaxOpen {
		t.Errorf("%d values, %d refused", table.Len(), full)
	}
	table.ClearIf(func() bool { return false })
	if table.Len() == 0 {
		t.Error("it was cleared though the condition does not hold")
	}
	table.ClearIf(func() bool { return true })
	if table.Len() != 0 {
		t.Error("it was not cleared")
	}
}

// Goroutine numbers, request ids and addresses are multiples of something: they must spread.
func TestKeysSpread(t *testing.T) {
	for _, step := range []uint64{1, 8, 16, 64, 512, 4096, 1 << 20} {
		table := NewTable[int]()
		for i := range uint64(64 * shards) {
			table.Put(Key{number: 1 + i*step}, 0)
		}
		for i := range table.shards {
			if n := len(table.shards[i].open); n > 4*64 {
				t.Errorf("keys %d apart: %d of %d in one shard", step, n, 64*shards)
			}
		}
	}
}

var keyed = marker.New8[int32, uint64, string, []byte, bool, float64, uintptr, int](
	"jointest:keyed", "i %d u %d s %s b %s t %t f %f p %x i2 %d")

func TestKeyOf(t *testing.T) {
	got := map[string]Key{}
	p, err := marker.Register("jointest:keyed", "", func(e *marker.Event) {
		clear(got)
		for _, name := range []string{"", "i", "u", "s", "b", "t", "f", "p", "i2", "no"} {
			if k, ok := KeyOf(e, name); ok {
				got[name] = k
			}
		}
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Unregister()
	if err := keyed.Arm(); err != nil {
		t.Fatal(err)
	}
	defer keyed.Disarm()
	text := []byte("ab")
	keyed.Mark(-1, 1, "ab", text, true, 0.5, 9, -1)
	text[0] = 'x'
	if len(got) != 8 {
		t.Errorf("keys are %v, want all but f and no", got)
	}
	if got["i"] != got["i2"] {
		t.Errorf("-1 as int32 is %v, as int %v", got["i"], got["i2"])
	}
	if got["u"] == got["i"] || got["s"] != got["b"] || got["s"] != (Key{text: "ab"}) || got["p"] != (Key{number: 9}) {
		t.Errorf("keys are %v", got)
	}
	if got[""].number == 0 {
		t.Error("no goroutine")
	}
}

func BenchmarkPutTake(b *testing.B) {
	table := NewTable[int64]()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := uint64(0); pb.Next(); i++ {
			k := Key{number: i & 1023}
			table.Put(k, 1)
			table.Take(k)
		}
	})
}
