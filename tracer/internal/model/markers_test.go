package model

import (
	"debug/elf"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/schema"
	"github.com/waymark-trace/waymark/sdt"
)

func site(name string, at uint64, ops ...sdt.Operand) sdt.Site {
	return sdt.Site{Note: sdt.Note{Provider: "p", Name: name, Location: sdt.Addr(at)}, Address: sdt.Addr(at),
		Offset: sdt.Offset(at), Operands: ops}
}

func register(size int, signed bool) sdt.Operand {
	return sdt.Operand{Kind: sdt.Register, Base: sdt.RAX, Size: size, Signed: signed}
}

var errNoRegister = fmt.Errorf("no such register")

func TestMarkersOfOperands(t *testing.T) {
	f := &File{machine: elf.EM_X86_64, goid: -1}
	bad := sdt.Operand{Kind: sdt.Unreadable, Size: 8, Float: true, Err: errNoRegister}
	float := sdt.Operand{Kind: sdt.Register, Base: sdt.RAX, Size: 4, Float: true}
	markers := MarkersOf(f, []sdt.Site{
		site("many", 16, register(4, true), register(1, false), bad),
		site("none", 32),
		site("many", 48, register(4, false), register(8, false), register(8, false), bad),
		site("none", 32, register(8, true)), // contradicts the one before
		site("late", 64, sdt.Operand{Kind: sdt.Unreadable, Err: errNoRegister}),
		site("late", 80, float),
		site("late", 96, bad),
	}, nil)
	type field struct {
		event.Field
		operand int
	}
	want := map[string][]field{
		"none": nil,
		"late": {{event.Field{Name: "arg1", Type: "float32", Kind: event.Float32}, 1}}, // of the one site that has it
		"many": {
			{event.Field{Name: "arg1", Type: "int64", Kind: event.Int64}, 1},
			{event.Field{Name: "arg2", Type: "uint64", Kind: event.Uint64}, 2},
			{event.Field{Name: "arg3", Type: "uint64", Kind: event.Uint64}, 3},
			{event.Field{Name: "arg4", Type: "float64", Kind: event.Float64, Unavailable: event.ReasonOf(errNoRegister)}, 4},
		},
	}
	got := map[string][]field{}
	for _, m := range markers {
		got[m.Name] = nil
		for i, f := range m.Fields {
			got[m.Name] = append(got[m.Name], field{f, ArgumentOf(m, i).Operand})
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(field{})); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if len(f.Problems) != 1 || len(markers[1].Sites) != 1 {
		t.Errorf("two notes that contradict each other: %d sites, problems %v", len(markers[1].Sites), f.Problems)
	}
}

// The catalogue's ints are signed where a program casts them to an unsigned type, in registers and constants,
// and the notes stay as they are.
func TestMarkersOfCatalog(t *testing.T) {
	constant := sdt.Operand{Kind: sdt.Constant, Size: 4, Value: 0xffffffff}
	socket := site("rpc_socket_send_fd", 16, register(8, false), register(8, false))
	other := site("rpc_socket_send_fd", 32, register(8, false), constant)
	alloc := site("object__alloc", 48, register(8, false), register(8, false), register(8, false), register(8, false))
	socket.Provider, other.Provider, alloc.Provider = "libvirt", "libvirt", "hotspot"
	sites := []sdt.Site{socket, other, alloc}
	markers := MarkersOf(&File{machine: elf.EM_X86_64, goid: -1}, sites, nil)
	got := map[string][]event.Field{}
	for _, m := range markers {
		got[m.Name] = m.Fields
	}
	want := map[string][]event.Field{
		"rpc_socket_send_fd": {{Name: "socket", Type: "Pointer", Kind: event.Pointer}, {Name: "fd", Type: "int64", Kind: event.Int64}},
		"object__alloc": {
			{Name: "thread", Type: "uint64", Kind: event.Uint64}, {Name: "class", Type: "string", Kind: event.String},
			{Name: "bytes", Type: "uint64", Kind: event.Uint64},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if v := markers[0].Sites[1].Operands[1].Value; int64(v) != -1 {
		t.Errorf("a constant -1 is %d", int64(v))
	}
	for i := range sites {
		for _, o := range sites[i].Operands {
			if o.Signed {
				t.Errorf("%s: the file's operands changed", sites[i].Name)
			}
		}
	}
}

func TestMarkersOfSchema(t *testing.T) {
	f := &File{machine: elf.EM_X86_64, goid: -1}
	text := []event.Field{{Name: "path", Type: "string", Kind: event.String, Verb: "%s"}}
	doc := &schema.Document{Markers: []schema.Marker{
		{Provider: "p", Name: "a", Format: "path %s", Typed: true, Location: 16, Fields: text},
		{Provider: "p", Name: "a", Format: "path %s", Typed: true, Location: 32, Fields: text},
		{Provider: "p", Name: "a", Format: "n %d", Typed: true, Location: 48, Fields: []event.Field{{Name: "n", Type: "int", Kind: event.Int}}},
		{Provider: "p", Name: "untyped", Format: "n %d", Location: 64},
		{Provider: "p", Name: "other", Typed: true, Location: 80},
	}}
	op := register(8, true)
	markers := MarkersOf(f, []sdt.Site{site("a", 16, op), site("a", 32, op), site("a", 48, op), site("untyped", 64, op), site("wrong", 80, op)}, doc)
	var got []string
	for _, m := range markers {
		got = append(got, fmt.Sprint(m.Name, " ", len(m.Sites), " ", m.Typed, " ", m.Format, " ", m.Fields[0].Name, " ", m.Fields[0].Type))
	}
	want := []string{"a 2 true path %s path string", "a 1 true n %d n int", "untyped 1 false n %d arg1 int64", "wrong 1 false  arg1 int64"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(f.Problems) != 1 {
		t.Errorf("a note that contradicts the schema: problems %v", f.Problems)
	}
}

func TestCommonKind(t *testing.T) {
	for _, test := range []struct{ a, b, want event.Kind }{
		{event.Int32, event.Int32, event.Int32},
		{event.Int8, event.Int64, event.Int64},
		{event.Uint16, event.Uint8, event.Uint16},
		{event.Int8, event.Uint8, event.Int16},
		{event.Int8, event.Uint16, event.Int32},
		{event.Int32, event.Uint32, event.Int64},
		{event.Int64, event.Uint8, event.Int64},
		{event.Int64, event.Uint64, event.Int64},
		{event.Float32, event.Float64, event.Float64},
		{event.Float32, event.Int32, event.Uint64},
	} {
		for _, pair := range [][2]event.Kind{{test.a, test.b}, {test.b, test.a}} {
			if got := commonKind(pair[0], pair[1]); got != test.want {
				t.Errorf("%v and %v are %v, want %v", pair[0], pair[1], got, test.want)
			}
		}
	}
}

func TestHolds(t *testing.T) {
	all := []event.Kind{event.Int8, event.Int16, event.Int32, event.Int64, event.Uint8, event.Uint16, event.Uint32, event.Uint64, event.Float32, event.Float64}
	for _, a := range all {
		for _, b := range all {
			common := commonKind(a, b)
			mixed := a.IsFloat() != b.IsFloat() || (common == event.Int64 && (a == event.Uint64 || b == event.Uint64))
			if both := Holds(common, a) && Holds(common, b); both == mixed || !Holds(a, a) {
				t.Errorf("%v holds %v and %v: %t", common, a, b, both)
			}
		}
	}
}
