// Package slogsink makes log records of markers: a program that logs with log/slog gets its markers
// in the same log, and turns them on while it runs.
//
//	s, err := slogsink.Connect(slog.Default(), slog.LevelDebug, "http:*")
//	…
//	err = s.Close()
//
//	{"time":…,"level":"DEBUG","msg":"http:request_start","path":"/x","attempt":1}
//
// # Records
//
// The message is the marker's name as declared. The source is the line of the call of Mark; for a
// deferred Mark it is the line where the function returns, as for all deferred calls. There is an
// attribute for each argument, with its name from the format and its type:
//
//	bool                            slog.KindBool
//	int …, uint …, uintptr          slog.KindInt64, slog.KindUint64
//	float32, float64                slog.KindFloat64
//	string, []byte                  slog.KindString; a []byte printed by %x or %X in hexadecimal
//	unsafe.Pointer                  slog.KindString, "0xc000012345"
//
// To keep fields apart from the handler's own attributes of the same names ("level", "msg"), use a
// group: pass logger.WithGroup("args").
//
// # Handlers
//
// The logger's handler is called by the goroutine that marks, which waits for it. Apart from the
// handler an event takes about 0.8 µs, like a call of the logger, half of it for the source; it
// takes 50 ns while the handler is not enabled for the level (BenchmarkRecord). Records of up to
// five attributes are made without allocating.
//
// Markers that are hit inside the handler, because it writes to a file or a connection with
// markers, make no records of this Sink: they would wait for the lock that the handler holds.
// [Sink.Skipped] counts them. [Sink.Failed] counts records that the handler refuses, because the
// code that marks cannot handle an error.
package slogsink
