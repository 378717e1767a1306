package tracer

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/bpf"
	"github.com/waymark-trace/waymark/internal/tracefs"
)

// tracepoints reads events of the kernel's tracepoints.
type tracepoints struct {
	*bpf.TracepointReader
	records []*tracefs.Record
	markers []*Marker
	event   bpf.TracepointEvent
	clock   wallClock
	comms   comms
}

func newKernelTracepoints(patterns []string, o Options) (kernelTracepoints, error) {
	t := &tracepoints{comms: comms{}}
	seen := map[string]bool{}
	var points []bpf.Tracepoint
	for _, pattern := range patterns {
		records, err := kernelRecords(pattern)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if name := r.Group + ":" + r.Name; !seen[name] {
				seen[name] = true
				t.records, t.markers = append(t.records, r), append(t.markers, recordMarker(r))
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

// recordMarker is what events of a tracepoint are of.
func recordMarker(r *tracefs.Record) *Marker {
	m := &Marker{Provider: "kernel", Name: r.Group + ":" + r.Name, Typed: true, File: &File{Path: "kernel"}}
	for i := range r.Fields {
		f := &r.Fields[i]
		of := Field{Name: f.Name, Type: f.Type, Kind: recordKind(f)}
		m.Fields = append(m.Fields, of)
	}
	return m
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

func recordPoint(r *tracefs.Record) bpf.Tracepoint {
	p := bpf.Tracepoint{Group: r.Group, Name: r.Name, Size: r.Size}
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Located() && len(p.Located) < bpf.MaxLocated {
			p.Located = append(p.Located, f.Offset)
		}
	}
	return p
}

func (t *tracepoints) next(ctx context.Context) (*Event, error) {
	r := &t.event
	if err := t.Next(ctx, r); err != nil {
		return nil, err
	}
	at := time.Duration(r.Time)
	e := &Event{
		Time: t.clock.at(at), Monotonic: at, PID: r.PID, TID: r.TID, CPU: int(r.CPU), Comm: t.comms.of(r.Comm),
		Marker: t.markers[r.Index], Values: make([]Value, 0, len(t.records[r.Index].Fields)),
	}
	located := 0
	for i := range t.records[r.Index].Fields {
		f := &t.records[r.Index].Fields[i]
		text := []byte(nil)
		if f.Located() {
			if located < len(r.Located) {
				text = r.Located[located]
			}
			located++
		}
		e.Values = append(e.Values, recordValue(f, e.Marker.Fields[i].Kind, r.Record, text, located > bpf.MaxLocated))
	}
	return e, nil
}

// recordValue reads a field of a record, or what a field that is located elsewhere has there.
func recordValue(f *tracefs.RecordField, k event.Kind, record, located []byte, missing bool) Value {
	b := record[f.Offset : f.Offset+f.Size]
	length := f.Size
	if f.Located() {
		if missing {
			return Value{Err: errNone}
		}
		length = int(binary.NativeEndian.Uint32(b) >> 16)
		b = located
	}
	if !k.HasLength() {
		return Value{Bits: extend(word(b), f.Size, k.Signed())}
	}
	if k == event.String {
		if i := bytes.IndexByte(b, 0); i >= 0 {
			b, length = b[:i], i
		}
	}
	return Value{Text: bytes.Clone(b), Len: length}
}

func (t *tracepoints) all() []*Marker               { return t.markers }
func (t *tracepoints) lostByCPU() ([]uint64, error) { return t.LostByCPU() }
func (t *tracepoints) stop() error                  { return t.Stop() }
func (t *tracepoints) close() error                 { return t.Close() }
