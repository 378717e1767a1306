// Package slogsink makes log records of markers: a program that is logged with log/slog has its markers in the
// same log, and turns them on while it runs.
//
//	s, err := slogsink.Connect(slog.Default(), slog.LevelDebug, "http:*")
//	…
//	err = s.Close()
//
//	{"time":…,"level":"DEBUG","msg":"http:request_start","path":"/x","attempt":1}
//
// # Records
//
// The message is the marker's name as declared. The source is the line that marks; of a deferred Mark it is the
// line where the function returns, as for all deferred calls. There is an attribute for
// each argument, named by the format and of the argument's type:
//
//	bool                            slog.KindBool
//	int …, uint …, uintptr          slog.KindInt64, slog.KindUint64
//	float32, float64                slog.KindFloat64
//	string, []byte                  slog.KindString; a []byte printed by %x or %X in hexadecimal
//	unsafe.Pointer                  slog.KindString, "0xc000012345"
//
// A field that is called as the handler calls something of its own ("level", "msg") is kept
// apart by a group: pass logger.WithGroup("args").
//
// # Handlers
//
// The logger's handler is called by the goroutine that marks, which waits for it. Around it an event
// takes about 0.8 µs, half of it to find the source, which is what a call of the logger takes, and 50 ns while the handler is not
// enabled for the level (BenchmarkRecord). Records of up to five attributes are made without allocating.
//
// Markers that the handler itself passes, because it writes to a file or a connection that is
// marked, make no records of this Sink: they would wait for the lock that the handler holds. [Sink.Skipped]
// counts them. Records that the handler refuses are counted by [Sink.Failed]: the program that
// marks has no way of handling an error.
package slogsink
