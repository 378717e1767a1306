package tracer

import (
	"debug/elf"
	"reflect"
	"testing"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/schema"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/bpf"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// FuzzValues reads arbitrary bytes as the events of every sort of site.
func FuzzValues(f *testing.F) {
	f.Add([]byte{}, uint64(0), 0, 256)
	f.Add(make([]byte, 300), ^uint64(0), 32, 1)
	file := model.NewFile(&File{}, elf.EM_X86_64, 152)
	site := func(name string, at uint64, ops ...sdt.Operand) sdt.Site {
		return sdt.Site{Note: sdt.Note{Provider: "p", Name: name, Location: sdt.Addr(at)}, Address: sdt.Addr(at), Offset: sdt.Offset(at), Operands: ops}
	}
	doc := &schema.Document{Markers: []schema.Marker{{Provider: "p", Name: "record", Typed: true, Location: 16, Fields: []event.Field{
		{Kind: event.String}, {Kind: event.Int8, Offset: 16}, {Kind: event.Bytes, Offset: 24}, {Kind: event.Float32, Offset: 48}}}}}
	var probes []*probe
	for _, m := range model.MarkersOf(file, []sdt.Site{
		site("record", 16),
		site("operands", 32, sdt.Operand{Kind: sdt.Register, Base: sdt.RAX, Size: 1, Signed: true}, sdt.Operand{Kind: sdt.Memory, Size: 4, Float: true, Base: sdt.RSP}, sdt.Operand{Kind: sdt.Constant, Size: 8, Value: 9}),
		site("operands", 48, sdt.Operand{Kind: sdt.Memory, Size: 8, Float: true, Base: sdt.RSP}),
	}, doc) {
		for i := range m.Sites {
			p, err := newProbe(m, i, 0)
			if err != nil {
				f.Fatal(err)
			}
			probes = append(probes, p)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, failed uint64, slot, limit int) {
		raw := &bpf.Raw{Body: body, Failed: failed, Slot: slot & 4095}
		limit = 1 + limit&4095
		for _, p := range probes {
			var text []byte
			used := make([]event.Value, 3, 5) // by an event before
			for i := range used {
				used[i] = event.Text(event.Int8, []byte("used"), 4)
			}
			values := p.values(raw, used, reading{limit, &text})
			if fresh := p.values(raw, nil, reading{limit, new([]byte)}); !reflect.DeepEqual(values, fresh) {
				t.Errorf("%+v where another event was before, else %+v", values, fresh)
			}
			if len(values) != len(p.marker.Fields) {
				t.Fatalf("%d values of %d fields", len(values), len(p.marker.Fields))
			}
			for _, v := range values {
				if len(v.Bytes()) > min(limit, v.Len()) {
					t.Errorf("text of %d bytes, length %d, limit %d", len(v.Bytes()), v.Len(), limit)
				}
			}
		}
	})
}
