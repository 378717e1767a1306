// Package runtimetrace puts markers into the execution traces of the Go runtime, beside the events
// of the scheduler, the garbage collector and the network: as log entries, regions and tasks of
// package runtime/trace, which go tool trace shows.
//
//	s, err := runtimetrace.Connect(runtimetrace.Options{
//		Log:     []string{"http:*"},
//		Regions: []sink.Pair{{Begin: "db:query_start", End: "db:query_done"}},
//		Tasks:   []sink.Pair{{Begin: "http:request_start", End: "http:request_done", Key: "id"}},
//	})
//	…
//	err = s.Close()
//
// A Sink writes while the runtime traces, be it by trace.Start, a trace.FlightRecorder, the
// -trace flag of go test or net/http/pprof, and waits otherwise: connect once, trace on demand. An
// event costs about 50 ns while the runtime does not trace, and about a microsecond while it does,
// mostly in runtime/trace.
//
// # Log
//
// The category of an entry is the marker's name, its message the arguments, printed by the marker's
// format. An entry of a marker that begins or ends a task belongs to that task.
//
// # Regions
//
// A region lies between a begin and an end on one goroutine. Pairs may nest, also in themselves. An
// end closes later begins without an end, which are counted as unended.
//
// The regions of a goroutine must nest: go tool trace refuses a whole trace in which they do not. The
// regions of one Sink always nest. It cannot see the regions of the program itself, nor those of
// another Sink: inside one of these, each begin must have its end. So mark the end in a deferred
// call, next to the begin; if that is not possible, use a task.
//
// # Tasks
//
// A task lies between a begin and an end on any goroutines, which are paired by an argument, or by
// goroutine without one; see [sink.Pair]. A task has no end if its key begins again, or if it is
// the oldest of more than 131072 open ones.
package runtimetrace
