// Package runtimetrace puts markers into the execution traces of the Go runtime, beside what the scheduler, the
// garbage collector and the network did at that moment: as log entries, regions and tasks of package
// runtime/trace, which go tool trace shows.
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
// -trace flag of go test or net/http/pprof, and waits when it does not: connect once, trace when there is need. An event costs
// about 50 ns while nothing is traced; what it costs otherwise is mostly what runtime/trace takes, about a microsecond.
//
// # Log
//
// The category of an entry is the marker's name, its message the arguments as the marker's format prints them. An entry
// of a marker that begins or ends a task belongs to that task.
//
// # Regions
//
// A region lies between a begin and an end on one goroutine. Pairs may nest, also in themselves. An end closes
// what began later and did not end; those are counted as unended.
//
// The runtime demands of the regions of each goroutine that they nest, and go tool trace refuses a whole
// trace in which they do not. The regions of one Sink always do. It cannot see those that the program starts itself,
// nor those of another Sink: between their start and their end, each begin must have its end. So mark the end in a deferred call, next to the begin; where
// that cannot be, use a task.
//
// # Tasks
//
// A task lies between a begin and an end on any goroutines, which are joined by an argument, or by goroutine without
// one; see [sink.Pair]. A begin whose key begins again, or that has to give way because more than 131072 are open, is a task without an end.
package runtimetrace
