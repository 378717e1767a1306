package slogsink

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/sink"
	"github.com/waymark-trace/waymark/sink/internal/join"
)

// Sink logs events of markers until it is closed. Its methods may be called by several goroutines at once.
type Sink struct {
	handler slog.Handler
	level   slog.Level
	c       sink.Connection

	logging *join.Table[struct{}] // the goroutines that are in the handler
	skipped atomic.Uint64
	failed  atomic.Uint64
	last    atomic.Pointer[error]
}

// Connect logs the events of the markers that any of the patterns matches, as package sink has
// them, at a level. When it returns an error nothing is connected.
func Connect(logger *slog.Logger, level slog.Level, patterns ...string) (*Sink, error) {
	if logger == nil {
		return nil, errors.New("connecting a sink: the logger is nil")
	}
	names, err := sink.Match(patterns...)
	if err != nil {
		return nil, err
	}
	s := &Sink{handler: logger.Handler(), level: level, logging: join.NewTable[struct{}]()}
	for _, name := range names {
		if err := s.c.Add(name, mark, s); err != nil {
			return nil, errors.Join(err, s.c.Close())
		}
	}
	if err := s.c.Arm(); err != nil {
		return nil, err
	}
	return s, nil
}

// mark is the probe of every marker.
func mark(e *marker.Event) {
	s := e.Data().(*Sink)
	ctx := context.Background()
	if !s.handler.Enabled(ctx, s.level) {
		return
	}
	goroutine, _ := join.KeyOf(e, "")
	if !s.logging.Add(goroutine, struct{}{}) {
		s.skipped.Add(1)
		return
	}
	defer s.logging.Take(goroutine) // a handler may panic

	record := slog.NewRecord(time.Now(), s.level, e.Name(), source())
	var attrs [8]slog.Attr
	fields := e.Fields()
	for i := range fields {
		attrs[i] = slog.Attr{Key: fields[i].Name, Value: value(e.Arg(i), &fields[i])}
	}
	record.AddAttrs(attrs[:e.Len()]...)
	if err := s.handler.Handle(ctx, record); err != nil {
		s.fail(err)
	}
}

func (s *Sink) fail(err error) {
	s.failed.Add(1)
	s.last.Store(&err)
}

// value returns an argument as slog has it, and nothing that the handler must not keep.
func value(v marker.Value, f *marker.Field) slog.Value {
	if f.Kind == event.Duration {
		return slog.DurationValue(time.Duration(v.Int()))
	}
	switch v.Kind() {
	case reflect.Bool:
		return slog.BoolValue(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return slog.Int64Value(v.Int())
	case reflect.Float32, reflect.Float64:
		return slog.Float64Value(v.Float())
	case reflect.String:
		return slog.StringValue(v.Text())
	case reflect.Slice:
		if strings.HasSuffix(f.Verb, "x") || strings.HasSuffix(f.Verb, "X") {
			return slog.StringValue(hex.EncodeToString(v.Bytes()))
		}
		return slog.StringValue(v.Text())
	case reflect.UnsafePointer:
		return slog.StringValue("0x" + strconv.FormatUint(v.Uint(), 16))
	}
	return slog.Uint64Value(v.Uint())
}

// Failed returns how many records the handler returned an error for, and the last such error.
func (s *Sink) Failed() (n uint64, last error) {
	if err := s.last.Load(); err != nil {
		last = *err
	}
	return s.failed.Load(), last
}

// Skipped returns how many events made no record because the handler, making one, passed their marker.
func (s *Sink) Skipped() uint64 { return s.skipped.Load() }

// Pending returns the names that no marker has so far.
func (s *Sink) Pending() []string { return s.c.Pending() }

// Close ends the logging. After it returns, no probe of the Sink runs, and it does not call the
// handler. [sink.Connection.Close] documents the wait and the error.
func (s *Sink) Close() error { return s.c.Close() }
