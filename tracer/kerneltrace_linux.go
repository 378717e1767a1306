package tracer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/bpf"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/tracefs"
)

// tracepoints reads events of the kernel's tracepoints.
type tracepoints struct {
	*bpf.TracepointReader
	records []*tracefs.Record
	of      []*event.Point
	event   prog.TracepointEvent
	wallClock
	decoder
}

func newKernelTracepoints(patterns []string, o options) (events, error) {
	t := &tracepoints{}
	seen := map[string]bool{}
	var points []prog.Tracepoint
	for _, pattern := range patterns {
		records, err := kernelRecords(pattern)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if name := r.Group + ":" + r.Name; !seen[name] {
				seen[name] = true
				t.records, t.of = append(t.records, r), append(t.of, pointOfRecord(r))
				points = append(points, recordPoint(r))
			}
		}
	}
	var err error
	if t.TracepointReader, err = bpf.NewTracepointReader(points, o.BufferSize); err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil, &PermissionError{Op: tracingTracepoints, Capability: "CAP_BPF and CAP_PERFMON", Hint: "run as root", Err: err}
		}
		return nil, fmt.Errorf("%s: %w", tracingTracepoints, err)
	}
	return t, nil
}

const tracingTracepoints = "tracing the kernel's tracepoints"

// kernelRecords returns what the kernel says of the tracepoints that a pattern selects.
func kernelRecords(pattern string) ([]*tracefs.Record, error) {
	where, err := tracefs.Find()
	if err != nil {
		err = fmt.Errorf("%s: %w", tracingTracepoints, err)
	}
	var all []*tracefs.Record
	if err == nil {
		all, err = where.Tracepoints(pattern)
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, &PermissionError{Op: tracingTracepoints, Hint: "run as root", Err: err}
	}
	return all, err
}

func kernelTracepointNames(pattern string) (names []string, err error) {
	records, err := kernelRecords(pattern)
	for _, r := range records {
		names = append(names, r.Group+":"+r.Name)
	}
	return names, err
}

// pointOfRecord returns the point of a tracepoint's events.
func pointOfRecord(r *tracefs.Record) *event.Point {
	p := &event.Point{Provider: "kernel", Name: r.Group + ":" + r.Name}
	for i := range r.Fields {
		f := &r.Fields[i]
		p.Fields = append(p.Fields, event.Field{Name: f.Name, Type: f.Type, Kind: recordKind(f)})
	}
	return p
}

func recordKind(f *tracefs.RecordField) event.Kind {
	switch {
	case f.IsText():
		return event.String
	case strings.Contains(f.Type, "["):
		return event.Bytes
	case f.Type == "bool":
		return event.Bool
	case strings.HasSuffix(f.Type, "*"):
		return event.Pointer
	}
	for _, k := range []event.Kind{event.Int8, event.Int16, event.Int32, event.Int64, event.Uint8, event.Uint16, event.Uint32, event.Uint64} {
		if k.Size() == f.Size && k.Signed() == f.Signed {
			return k
		}
	}
	return event.Bytes
}

func recordPoint(r *tracefs.Record) prog.Tracepoint {
	p := prog.Tracepoint{Group: r.Group, Name: r.Name, Size: r.Size}
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Located() && len(p.Located) < prog.MaxLocated {
			p.Located = append(p.Located, f.Offset)
		}
	}
	return p
}

func (t *tracepoints) Read(ctx context.Context, e *event.Event) error {
	r := &t.event
	if err := t.Next(ctx, r); err != nil {
		return err
	}
	*e = event.Event{
		Time: time.Duration(r.Time), PID: r.PID, TID: r.TID, CPU: int(r.CPU), Comm: t.comm(r.Comm),
		Point: t.of[r.Index], Values: e.Values[:0],
	}
	texts, located := t.reading(0), 0
	for i := range t.records[r.Index].Fields {
		f := &t.records[r.Index].Fields[i]
		elsewhere := []byte(nil)
		if f.Located() {
			if located < len(r.Located) {
				elsewhere = r.Located[located]
			}
			located++
		}
		v := recordValue(f, e.Point.Fields[i].Kind, r.Record, elsewhere, located > prog.MaxLocated, texts)
		e.Values = append(e.Values, v)
	}
	return nil
}

// recordValue reads a field of a record, or the bytes to which the field points.
func recordValue(f *tracefs.RecordField, k event.Kind, record, located []byte, missing bool, texts reading) event.Value {
	b := record[f.Offset : f.Offset+f.Size]
	length := f.Size
	if f.Located() {
		if missing {
			return event.Missing(errNone)
		}
		length = int(event.Uint32.Bits(b) >> 16)
		b = located
	}
	if !k.HasLength() {
		return event.Number(k, k.Bits(b))
	}
	if k == event.String {
		if i := bytes.IndexByte(b, 0); i >= 0 {
			b, length = b[:i], i
		}
	}
	return event.Text(k, texts.keep(b), length)
}

func (t *tracepoints) Points() []*event.Point    { return t.of }
func (t *tracepoints) Order() source.Order       { return source.Arrival }
func (t *tracepoints) Filtered() (uint64, error) { return 0, nil }
func (t *tracepoints) Late() uint64              { return 0 } // nothing is put in order
func (t *tracepoints) ended() <-chan struct{}    { return nil }
func (t *tracepoints) skipped() []*SiteError     { return nil }
func (t *tracepoints) missing() error            { return nil }

func (t *tracepoints) Stream() (string, []string) { return "tracepoints", []string{source.BufferFull} }

func (t *tracepoints) Losses() ([]source.Loss, error) {
	n, err := t.LostByCPU()
	return fullBuffers("tracepoints", n), err
}
