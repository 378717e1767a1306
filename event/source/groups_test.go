package source

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
)

var (
	request = &event.Point{Name: "request", Fields: []event.Field{{Name: "id", Kind: event.Int32}, {Name: "path", Kind: event.String}}}
	answer  = &event.Point{Name: "answer", Fields: []event.Field{
		{Name: "id", Kind: event.Int64}, {Name: "status", Kind: event.Int16}, {Name: "cpu", Kind: event.Uint8}, {Name: "gone", Unavailable: event.OptimizedOut},
	}}
)

// grouped pairs requests by their id, each of which takes as many nanoseconds as its status.
func grouped(by []string, groups int, requests ...[3]any) *Pairs {
	p := NewPairs(PairOptions{
		Begins: func(p *event.Point) bool { return p == request }, Ends: func(p *event.Point) bool { return p == answer },
		Key: "id", By: by, MaxGroups: groups,
	})
	for _, r := range requests { // all begin before the first ends
		id, path := r[0].(int), r[1].(string)
		v := event.Text(event.String, []byte(path), len(path))
		if path == "lost" {
			v = event.Missing(event.OptimizedOut)
		}
		p.Add(&event.Event{Point: request, PID: 1, CPU: id % 2, Comm: "w", Values: []event.Value{event.Number(event.Int32, uint64(id)), v}})
	}
	for _, r := range requests {
		id, status := r[0].(int), r[2].(int)
		p.Add(&event.Event{Point: answer, PID: 1, CPU: 7, Comm: "x", Time: time.Duration(status), Values: []event.Value{
			event.Number(event.Int64, uint64(id)), event.Number(event.Int16, uint64(status)), event.Number(event.Uint8, 3), {},
		}})
	}
	return p
}

// rows are the groups as text: the values, the number of pairs, and the longest.
func rows(p *Pairs) string {
	var all []string
	for _, g := range p.Groups() {
		var row []byte
		for i := range g.Fields {
			row = append(g.Fields[i].AppendText(row, &g.Values[i]), ' ')
		}
		all = append(all, fmt.Sprintf("%s%d %d", row, g.Count(), g.Max()))
	}
	if p.Others().Count() > 0 {
		all = append(all, fmt.Sprint("others ", p.Others().Count()))
	}
	return strings.Join(all, "; ")
}

func TestPairGroups(t *testing.T) {
	requests := [][3]any{{1, "/a", 200}, {2, "/b", 200}, {3, "/a", 404}, {4, "/a", 200}, {5, strings.Repeat("x", 70), 500}, {-6, "lost", 200}}
	long := `"` + strings.Repeat("x", 64) + `"…+6`
	for _, tt := range []struct {
		by     []string
		groups int
		want   string
	}{
		{nil, 0, ""},
		{[]string{"path"}, 0, `"/a" 3 404; "/b" 1 200; ` + long + ` 1 500; <unavailable> 1 200`},
		{[]string{"arg2"}, 0, `"/a" 3 404; "/b" 1 200; ` + long + ` 1 500; <unavailable> 1 200`},
		{[]string{"status"}, 0, "200 4 200; 404 1 404; 500 1 500"}, // the end's
		{[]string{"status", "path"}, 0, `200 "/a" 2 200; 200 "/b" 1 200; 404 "/a" 1 404; 500 ` + long + ` 1 500; 200 <unavailable> 1 200`},
		{[]string{"id"}, 2, "1 1 200; 2 1 200; others 4"}, // the begin's, which both have
		{[]string{"comm"}, 0, `"w" 6 500`},                // what only the event has is the begin's,
		{[]string{"cpu"}, 0, "3 6 500"},                   // unless it is a field
		{[]string{"goroutine"}, 0, "<unavailable> 6 500"},
		{[]string{"gone"}, 0, "<optimized out> 6 500"},
		{[]string{"nosuch"}, 0, "<unavailable> 6 500"},
	} {
		p := grouped(tt.by, tt.groups, requests...)
		if got := rows(p); got != tt.want {
			t.Errorf("%v: %s\nwant %s", tt.by, got, tt.want)
		}
		sum := p.Others().Count()
		for _, g := range p.Groups() {
			sum += g.Count()
		}
		if tt.by != nil && sum != uint64(len(requests)) {
			t.Errorf("%v: %d pairs in groups, want %d", tt.by, sum, len(requests))
		}
	}
}
