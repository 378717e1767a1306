package source_test

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
)

var (
	requestStart = &event.Point{Provider: "http", Name: "request_start", Fields: []event.Field{{Name: "id", Kind: event.Uint64}}}
	requestEnd   = &event.Point{Provider: "http", Name: "request_end", Fields: []event.Field{{Name: "id", Kind: event.Uint64}}}
)

// list is a source of a fixed list of events. It stands for a *tracer.Tracer or a *recording.Reader.
type list []event.Event

func (*list) Points() []*event.Point         { return []*event.Point{requestStart, requestEnd} }
func (*list) Losses() ([]source.Loss, error) { return nil, nil }
func (*list) Order() source.Order            { return source.ByTime }
func (*list) Clock() source.Clock            { return clock{} }
func (l *list) Read(_ context.Context, e *event.Event) error {
	if len(*l) == 0 {
		return io.EOF
	}
	*e, *l = (*l)[0], (*l)[1:]
	return nil
}

// clock has its 0 in 1970.
type clock struct{}

func (clock) Wall(t time.Duration) time.Time { return time.Unix(0, int64(t)).UTC() }

// requests returns a source of two requests, which overlap.
func requests() source.Source {
	hit := func(p *event.Point, at time.Duration, id uint64) event.Event {
		return event.Event{Point: p, Time: at, PID: 1, TID: 1, Values: []event.Value{event.Number(event.Uint64, id)}}
	}
	return &list{
		hit(requestStart, 1*time.Millisecond, 7),
		hit(requestStart, 2*time.Millisecond, 8),
		hit(requestEnd, 4*time.Millisecond, 8),
		hit(requestEnd, 9*time.Millisecond, 7),
	}
}

// The same loop reads a running program and a trace on disk.
func ExampleEvents() {
	s := requests()
	for e, err := range source.Events(context.Background(), s) {
		if err != nil {
			fmt.Println(err)
			return
		}
		id, _ := e.Value("id")
		fmt.Println(s.Clock().Wall(e.Time).Format("05.000"), e.Point.FullName(), id.Uint())
	}
	lost, err := s.Losses()
	fmt.Println("lost:", source.Total(lost), err)
	// Output:
	// 00.001 http:request_start 7
	// 00.002 http:request_start 8
	// 00.004 http:request_end 8
	// 00.009 http:request_end 7
	// lost: 0 <nil>
}

// Pairs measures the time of each request, by its number.
func ExamplePairs() {
	pairs := source.NewPairs(source.PairOptions{
		Begins: func(p *event.Point) bool { return p.FullName() == "http:request_start" },
		Ends:   func(p *event.Point) bool { return p.FullName() == "http:request_end" },
		Key:    "id",
	})
	for e, err := range source.Events(context.Background(), requests()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if took, ended := pairs.Add(e); ended {
			id, _ := e.Value("id")
			fmt.Println("request", id.Uint(), "took", took)
		}
	}
	counts := pairs.Counts()
	fmt.Println(counts.Begins, "begins,", counts.Ends, "ends")
	// Output:
	// request 8 took 2ms
	// request 7 took 8ms
	// 2 begins, 2 ends
}
