package runtimetrace_test

import (
	"bytes"
	"fmt"
	"runtime/trace"

	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/sink"
	"github.com/waymark-trace/waymark/sink/runtimetrace"
)

var (
	queryStart = marker.New1[string]("db:query_start", "table %s")
	queryDone  = marker.New1[int]("db:query_done", "rows %d")
)

func Example() {
	s, err := runtimetrace.Connect(runtimetrace.Options{
		Log:     []string{"db:*"},
		Regions: []sink.Pair{{Begin: "db:query_start", End: "db:query_done"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var recorded bytes.Buffer // a file, for go tool trace
	if err := trace.Start(&recorded); err != nil {
		fmt.Println(err)
		return
	}
	queryStart.Mark("users")
	queryDone.Mark(3)
	trace.Stop()
	if err := s.Close(); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%+v\n", s.Losses())
	// Output: {Unended:0 Unbegun:0 Dropped:0}
}
