package tracer

import (
	"testing"
)

// A field comes before what every hit has of the same name, in keys as in conditions. Only the pairs that nothing is said
// of are joined by the thread itself.
func TestFieldsComeFirst(t *testing.T) {
	const threads, rounds = 2, 5
	p := startC(t, "pairs", "2", "5")
	target := PIDs(p.PID())
	all := mustFind(t, target)
	begin, end := one(t, all, "begin"), one(t, all, "end")
	begin[0].Fields[0].Name = "tid" // the number of the pair, -2 for the last one of each thread
	end[0].Fields[1].Name = "tid"   // the same, -1 for the first one of each
	by, err := Count(target, begin, &CountOptions{By: []string{"tid"}})
	if err != nil {
		t.Fatal(err)
	}
	defer by.Close()
	where, err := Count(target, begin, &CountOptions{Attach: Attach{Where: "tid == -2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer where.Close()
	pairs := map[string]*Pairs{}
	for _, key := range []string{"", "tid"} {
		l, err := Latency(target, begin, end, &LatencyOptions{Key: key})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		pairs[key] = l
	}
	p.run()
	p.until()
	got, err := by.Read()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got[0].Keys); n != threads*rounds+1 {
		t.Errorf("%d keys, want %d, the numbers of all pairs", n, threads*rounds+1)
	}
	if got, err = where.Read(); err != nil || got[0].Count != threads {
		t.Errorf("%d hits with the field -2, want %d: %v", got[0].Count, threads, err)
	}
	for key, nested := range map[string]uint64{"": 0, "tid": threads - 1} {
		l, err := pairs[key].Read()
		if err != nil {
			t.Fatal(err)
		}
		if l.Count() != threads*rounds || l.Nested != nested {
			t.Errorf("joined by %q: %d pairs and %d nested, want %d and %d", key, l.Count(), l.Nested, threads*rounds, nested)
		}
	}
}
