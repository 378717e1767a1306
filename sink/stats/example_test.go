package stats_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/sink"
	"github.com/waymark-trace/waymark/sink/stats"
)

var (
	orderBegin = marker.New2[int, string]("shop:order_begin", "id %d customer %s")
	orderEnd   = marker.New2[int, bool]("shop:order_end", "id %d paid %t")
)

func Example() {
	s, err := stats.Connect(stats.Options{
		Latency: []sink.Pair{{Begin: "shop:order_begin", End: "shop:order_end", Key: "id"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	orderBegin.Mark(1, "Ada")
	orderBegin.Mark(2, "Grace")
	orderEnd.Mark(1, true)
	for _, p := range s.Snapshot().Pairs {
		fmt.Println(p.Begin, "to", p.End, "complete:", p.Count, "open:", p.Open)
	}
	if err := s.Close(); err != nil {
		fmt.Println(err)
	}
	// Output: shop:order_begin to shop:order_end complete: 1 open: 1
}

// The table, in a time of its own.
func TestTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := connect(t, stats.Options{Latency: []sink.Pair{{Begin: "shop:order_begin", End: "shop:order_end", Key: "id"}}})
		for id := range 5 {
			orderBegin.Mark(id, "Ada")
			time.Sleep(time.Duration(id+1) * time.Second)
			if id < 4 {
				orderEnd.Mark(id, true)
			}
		}
		var text strings.Builder
		if err := s.Snapshot().WriteText(&text); err != nil {
			t.Error(err)
		}
		const want = `MARKER                   COUNT          RATE
shop:order_begin             5         0.2/s
shop:order_end               4         0.2/s

shop:order_begin → shop:order_end by id
  count 4   rate 0.2/s   open 1   unended 0   unbegun 0
  mean 2.5s   p50 2s   p90 4s   p99 4s   p99.9 4s   max 4s
       537ms – 1.07s              1  ████████████████████
       1.07s – 2.15s              1  ████████████████████
       2.15s – 4.29s              2  ████████████████████████████████████████

since 2000-01-01T00:00:00Z, 15s; rates are of the last 10 s
`
		if got := text.String(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if page, err := os.ReadFile("../../docs/sinks.md"); err != nil || !strings.Contains(string(page), want) {
			t.Errorf("docs/sinks.md shows another table than\n%s%v", want, err)
		}
	})
}
