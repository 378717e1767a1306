package source

import (
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
)

var (
	begin = &event.Point{Name: "begin", Fields: []event.Field{{Name: "id", Kind: event.Int32}, {Name: "path", Kind: event.String}}}
	end   = &event.Point{Name: "end", Fields: []event.Field{{Name: "number", Kind: event.Int64}, {Name: "path", Kind: event.String}}}
	both  = &event.Point{Name: "both"}
	other = &event.Point{Name: "other"}
)

func newPairs(key, endKey string, open int) *Pairs {
	return NewPairs(PairOptions{
		Begins: func(p *event.Point) bool { return p == begin || p == both },
		Ends:   func(p *event.Point) bool { return p == end || p == both },
		Key:    key, EndKey: endKey, MaxOpen: open,
	})
}

// hit is an event of goroutine 7 in process 1 with a number and a text.
func hit(p *event.Point, at time.Duration, number int, text string) *event.Event {
	e := &event.Event{Point: p, Time: at, PID: 1, TID: 2, Goroutine: 7}
	if len(p.Fields) > 0 {
		e.Values = []event.Value{event.Number(p.Fields[0].Kind, uint64(number)), event.Text(event.String, []byte(text), len(text))}
	}
	return e
}

func TestPairs(t *testing.T) {
	unread := hit(begin, 1, 0, "")
	unread.Values[0] = event.Missing(event.OptimizedOut)
	elsewhere := hit(end, 9, 5, "")
	elsewhere.PID = 3
	thread := func(p *event.Point, at time.Duration, tid int) *event.Event {
		return &event.Event{Point: p, Time: at, PID: 1, TID: tid}
	}
	for _, tt := range []struct {
		name        string
		key, endKey string
		open        int
		events      []*event.Event
		want        []time.Duration
		counts      PairCounts
	}{
		{"goroutine", "", "", 0, []*event.Event{hit(begin, 1, 0, ""), hit(other, 2, 0, ""), hit(end, 5, 0, ""), hit(end, 6, 0, "")},
			[]time.Duration{4}, PairCounts{Begins: 1, Ends: 2}},
		{"thread", "", "", 0, []*event.Event{thread(begin, 1, 1), thread(begin, 2, 2), thread(end, 5, 1), thread(end, 9, 2)},
			[]time.Duration{4, 7}, PairCounts{Begins: 2, Ends: 2}},
		{"field of two names and sizes", "id", "number", 0, []*event.Event{hit(begin, 1, -5, ""), hit(begin, 2, 6, ""), hit(end, 5, -5, ""), hit(end, 9, 6, "")},
			[]time.Duration{4, 7}, PairCounts{Begins: 2, Ends: 2}},
		{"argN", "arg1", "", 0, []*event.Event{hit(begin, 1, 5, ""), hit(end, 3, 5, "")}, []time.Duration{2}, PairCounts{Begins: 1, Ends: 1}},
		{"text", "path", "", 0, []*event.Event{hit(begin, 1, 0, "/a"), hit(begin, 2, 0, "/ab"), hit(end, 5, 0, "/a"), hit(end, 6, 0, "/")},
			[]time.Duration{4}, PairCounts{Begins: 2, Ends: 2}},
		{"nested", "id", "number", 0, []*event.Event{hit(begin, 1, 5, ""), hit(begin, 2, 5, ""), hit(end, 5, 5, "")},
			[]time.Duration{3}, PairCounts{Begins: 2, Ends: 1, Nested: 1}},
		{"process", "id", "number", 0, []*event.Event{hit(begin, 1, 5, ""), elsewhere}, nil, PairCounts{Begins: 1, Ends: 1}},
		{"unread", "id", "number", 0, []*event.Event{unread, hit(end, 5, 0, "")}, nil, PairCounts{Ends: 1, Unread: 1}},
		{"no field", "id", "", 0, []*event.Event{hit(begin, 1, 5, ""), hit(end, 5, 5, "")}, nil, PairCounts{Begins: 1, Unread: 1}},
		{"full", "id", "number", 1, []*event.Event{hit(begin, 1, 5, ""), hit(begin, 2, 6, ""), hit(end, 5, 6, ""), hit(end, 6, 5, ""), hit(begin, 7, 6, "")},
			[]time.Duration{5}, PairCounts{Begins: 3, Ends: 2, Full: 1}},
		{"neither goroutine nor thread", "", "", 0, []*event.Event{thread(begin, 1, 0), thread(end, 2, 0)}, nil, PairCounts{Unread: 2}},
		{"both", "", "", 0, []*event.Event{hit(both, 1, 0, ""), hit(both, 3, 0, ""), hit(both, 7, 0, "")},
			[]time.Duration{2, 4}, PairCounts{Begins: 3, Ends: 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPairs(tt.key, tt.endKey, tt.open)
			var got []time.Duration
			for _, e := range tt.events {
				if took, ended := p.Add(e); ended {
					got = append(got, took)
				}
			}
			if len(got) != len(tt.want) || p.Counts() != tt.counts {
				t.Fatalf("%v and %+v, want %v and %+v", got, p.Counts(), tt.want, tt.counts)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Errorf("%v, want %v", got, tt.want)
				}
			}
		})
	}
}

// Keys of different values differ, also where the bytes of one begin those of another.
func TestAppendKey(t *testing.T) {
	p := &event.Point{Fields: []event.Field{{Name: "a"}, {Name: "b"}, {Name: "pid"}, {Name: "gone", Unavailable: event.OptimizedOut}}}
	long := make([]byte, 100)
	seen := map[string]int{}
	for i, v := range [][2]event.Value{
		{event.Number(event.Int, 1), event.Number(event.Int, 2)},
		{event.Number(event.Int, 1<<7), event.Number(event.Int, 2)},
		{event.Text(event.String, []byte("a"), 1), event.Text(event.String, []byte("b"), 1)},
		{event.Text(event.String, []byte("ab"), 2), event.Text(event.String, nil, 0)},
		{event.Text(event.String, nil, 0), event.Text(event.String, []byte("ab"), 2)},
		{event.Text(event.String, []byte("a"), 9), event.Text(event.String, []byte("b"), 1)},
		{event.Text(event.Bytes, long, 100), event.Number(event.Int, 0)},
		{event.Text(event.Bytes, long, 101), event.Number(event.Int, 0)},
		{event.Missing(event.OptimizedOut), event.Number(event.Int, 0)},
		{event.Number(event.Int, 0), event.Missing(event.OptimizedOut)},
	} {
		e := &event.Event{Point: p, PID: 9, Values: append(v[:], event.Number(event.Int, 5), event.Number(event.Int, 5))}
		key, _ := AppendKey(nil, e, "a")
		key, _ = AppendKey(key, e, "b")
		if before, ok := seen[string(key)]; ok {
			t.Errorf("values %d and %d have the key %q", before, i, key)
		}
		seen[string(key)] = i
		if v, ok := KeyValue(e, "pid"); !ok || v.Int() != 5 { // the field comes before the process
			t.Errorf("pid is %d, %t", v.Int(), ok)
		}
		if _, ok := KeyValue(e, "gone"); ok {
			t.Error("a field without a value has a key")
		}
	}
}

func TestPairsDoNotAllocateForOthers(t *testing.T) {
	p := newPairs("id", "number", 0)
	events := []*event.Event{hit(other, 1, 0, ""), hit(end, 2, 5, "")}
	for _, e := range events {
		p.Add(e)
		if n := testing.AllocsPerRun(100, func() { p.Add(e) }); n > 0 {
			t.Errorf("%s: %v allocations", e.Point.Name, n)
		}
	}
}
