package ctf_test

import (
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/internal/test/diff"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

var longRuns = flag.Int("traces", 6, "how many traces of random types are compared with babeltrace2")

// generator makes up types and values of them.
type generator struct {
	*rand.Rand
	names int
}

func (g *generator) name() string {
	g.names++
	return fmt.Sprintf("%s%d", []string{"a", "string", "_x", "Align", "int"}[g.IntN(5)], g.names)
}

func (g *generator) order() ctf.ByteOrder { return ctf.ByteOrder(g.IntN(3)) }

// integer is of whole bytes, or else little-endian as the trace: babeltrace2 does not let the order
// change within a byte.
func (g *generator) integer() ctf.Integer {
	t := ctf.Integer{Signed: g.IntN(2) == 0, Base: []int{0, 2, 8, 10, 16}[g.IntN(5)], Size: 8 << g.IntN(4)}
	switch g.IntN(4) {
	case 0:
		t.Size = 1 + g.IntN(64)
		t.Align = 1 << g.IntN(6)
	case 1:
		t.Order = g.order()
	case 2:
		t.Order, t.Align = g.order(), 8<<g.IntN(4)
	}
	if t.Base == 16 && t.Size > 60 && t.Size < 64 {
		t.Base = 10 // babeltrace2 2.0.4 prints 0, having shifted by 64
	}
	return t
}

// fields makes up so many fields, with those that they refer to.
func (g *generator) fields(n, depth int) []ctf.Field {
	var fields []ctf.Field
	for range n {
		name := g.name()
		switch k := g.IntN(9); {
		case k == 0 && depth > 0:
			fields = append(fields, ctf.Field{Name: name, Type: &ctf.Struct{Fields: g.fields(g.IntN(4), depth-1), Align: 1 << g.IntN(6)}})
		case k == 1 && depth > 0:
			tag := g.name()
			e := &ctf.Enum{Integer: ctf.Integer{Size: 8, Signed: g.IntN(2) == 0}}
			v := &ctf.Variant{Tag: tag}
			for i := range 1 + g.IntN(3) {
				label := fmt.Sprintf("choice%d", i)
				e.Labels = append(e.Labels, ctf.Label{Name: label, Low: uint64(10 * i), High: uint64(10*i + g.IntN(9))})
				v.Options = append(v.Options, ctf.Field{Name: label, Type: g.scalar(depth - 1)})
			}
			fields = append(fields, ctf.Field{Name: tag, Type: e}, ctf.Field{Name: name, Type: v})
		case k == 2:
			length := g.name()
			fields = append(fields, ctf.Field{Name: length, Type: &ctf.Integer{Size: 8}},
				ctf.Field{Name: name, Type: &ctf.Sequence{Length: length, Elem: g.scalar(depth - 1)}})
		default:
			fields = append(fields, ctf.Field{Name: name, Type: g.scalar(depth)})
		}
	}
	return fields
}

// scalar makes up a type that refers to nothing.
func (g *generator) scalar(depth int) ctf.Type {
	i := g.integer()
	switch g.IntN(8) {
	case 0:
		return &ctf.String{}
	case 1:
		return &ctf.Float{Size: 32 << g.IntN(2), Order: g.order()}
	case 2:
		e := &ctf.Enum{Integer: i}
		for n := range 1 + g.IntN(4) {
			low := uint64(n) & (1<<(i.Size-1) - 1)
			e.Labels = append(e.Labels, ctf.Label{Name: fmt.Sprintf("l \"%d\\é", n), Low: low, High: low})
		}
		if i.Signed && i.Size > 2 {
			e.Labels = append(e.Labels, ctf.Label{Name: "negative", Low: uint64(math.MaxUint64), High: 0})
		}
		return e
	case 3:
		if depth > 0 {
			return &ctf.Array{Len: g.IntN(4), Elem: g.scalar(depth - 1)}
		}
	case 4:
		return &ctf.Array{Len: g.IntN(9), Elem: &ctf.Integer{Size: 8, UTF8: true}}
	}
	return &i
}

var texts = []string{"", "x", "it's \"q\" \\ ?", "é世界\u202e", "\a\b\t\n\v\f\r\x1b\x7f\x01", "\xff\xfe", "longer than a few bytes, and then some more of it"}

// elems invents the values of a struct, and then the lengths and tags that match them.
func (g *generator) elems(t *ctf.Struct) []ctf.Value {
	values := make([]ctf.Value, len(t.Fields))
	for i, f := range t.Fields {
		switch t := f.Type.(type) {
		case *ctf.Sequence:
			n := g.IntN(6)
			values[i-1].Bits = uint64(n)
			values[i] = g.many(t.Elem, n)
		case *ctf.Variant:
			n := g.IntN(len(t.Options))
			values[i-1].Bits = uint64(10 * n)
			values[i] = ctf.Value{Option: n, Elems: []ctf.Value{g.value(t.Options[n].Type)}}
		default:
			values[i] = g.value(f.Type)
		}
	}
	return values
}

func (g *generator) many(elem ctf.Type, n int) (v ctf.Value) {
	v.Type = &ctf.Array{Len: n, Elem: elem}
	for range n {
		if v.IsBytes() {
			v.Text = append(v.Text, "a\x00\xe9\n\"b"[g.IntN(6)])
		} else {
			v.Elems = append(v.Elems, g.value(elem))
		}
	}
	v.Type = nil
	return v
}

func (g *generator) bits(t *ctf.Integer) uint64 {
	bits := []uint64{g.Uint64(), 0, 1, math.MaxUint64, 1 << (t.Size - 1)}[g.IntN(5)] << (64 - t.Size)
	if t.Signed {
		return uint64(int64(bits) >> (64 - t.Size))
	}
	return bits >> (64 - t.Size)
}

var floats = []float64{0, 1.5, -2.25, 1e300, 3.25e-7, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 100000, 1234567}

func (g *generator) value(t ctf.Type) ctf.Value {
	switch t := t.(type) {
	case *ctf.Integer:
		return ctf.Value{Bits: g.bits(t)}
	case *ctf.Enum:
		return ctf.Value{Bits: g.bits(&t.Integer)}
	case *ctf.Float:
		f := floats[g.IntN(len(floats))]
		if t.Size == 32 {
			return ctf.Value{Bits: uint64(math.Float32bits(float32(f)))}
		}
		return ctf.Value{Bits: math.Float64bits(f)}
	case *ctf.String:
		return ctf.Value{Text: []byte(texts[g.IntN(len(texts))])}
	case *ctf.Struct:
		return ctf.Value{Elems: g.elems(t)}
	case *ctf.Array:
		return g.many(t.Elem, t.Len)
	}
	panic(fmt.Sprintf("no value of %T", t))
}

// bare returns copies of values as diff.Of compares them: without their types, which writers do
// not have, and with nil for empty slices.
func bare(values []ctf.Value) (copies []ctf.Value) {
	for _, v := range values {
		copies = append(copies, ctf.Value{Bits: v.Bits, Text: append([]byte(nil), v.Text...), Elems: bare(v.Elems), Option: v.Option})
	}
	return copies
}

// TestRandomTypes writes traces of all kinds of types: our reader returns the values that were written,
// and babeltrace2 prints the same.
func TestRandomTypes(t *testing.T) {
	for seed := range *longRuns {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := &generator{Rand: rand.New(rand.NewPCG(peer.FixedSeed(t, uint64(seed)), 6))}
			dir := filepath.Join(t.TempDir(), "trace")
			want := writeRandom(t, g, dir)
			trace, err := ctf.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			lines := babeltrace2(t, dir, "--clock-seconds", "--no-delta")
			events := readAll(t, ctf.NewReader(trace), func(i int, e *ctf.Event) {
				if i >= len(want) || i >= len(lines) {
					t.Fatalf("event %d of %d, and babeltrace2 has %d", i, len(want), len(lines))
				}
				got := [][]ctf.Value{bare(e.StreamContext.Elems), bare(e.Payload.Elems)}
				if d := diff.Of([][]ctf.Value{bare(want[i][0]), bare(want[i][1])}, got); d != "" {
					t.Fatalf("event %d is read otherwise than written (-want +got):\n%s", i, d)
				}
				if got := pretty(e); !agrees(got, lines[i]) {
					t.Fatalf("event %d\nhere:        %s\nbabeltrace2: %s", i, got, lines[i])
				}
			})
			if events != len(want) || events != len(lines) {
				t.Errorf("%d events written, %d read, %d printed by babeltrace2", len(want), events, len(lines))
			}
			var lost uint64
			for _, s := range trace.Streams {
				lost += s.Discarded()
			}
			if lost != 7+3 {
				t.Errorf("%d events are said to be lost, want 10", lost)
			}
		})
	}
}

// readAll calls fn for each event.
func readAll(t *testing.T, r *ctf.Reader, fn func(int, *ctf.Event)) int {
	t.Helper()
	for n := 0; ; n++ {
		e, err := r.Next()
		if err == io.EOF {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		fn(n, e)
	}
}

// writeRandom writes a trace of two streams, and returns the contexts and payloads of its events, in the
// order of time.
func writeRandom(t *testing.T, g *generator, dir string) (written [][][]ctf.Value) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := ctf.Create(dir, &ctf.Options{
		PacketSize: 4096 << g.IntN(3), Clock: ctf.Clock{OffsetSeconds: 1_700_000_000, Offset: 123},
		Env: []ctf.EnvEntry{{Name: "text", Text: "a \"b\"\n", IsText: true}, {Name: "number", Number: -5}},
	})
	check(err)
	context := &ctf.Struct{Fields: g.fields(1+g.IntN(3), 1)}
	class, err := w.StreamClass(context, &ctf.Struct{Fields: []ctf.Field{{Name: "extra", Type: &ctf.Integer{Size: 32}}}})
	check(err)
	var events []*ctf.EventClass
	for arity := range 9 {
		payload := &ctf.Struct{Fields: g.fields(arity, 3)}
		e, err := w.EventClass(class, fmt.Sprintf("e:%d \"%s\"", arity, texts[g.IntN(2)]), payload)
		check(err)
		events = append(events, e)
	}
	var streams []*ctf.StreamWriter
	for cpu := range 2 {
		s, err := w.Stream(class, "random", cpu)
		check(err)
		streams = append(streams, s)
	}
	streams[1].SetDiscarded(3)
	check(streams[1].Flush()) // an empty packet
	for i := range 2000 {
		s, e := streams[g.IntN(2)], events[g.IntN(len(events))]
		values := [][]ctf.Value{g.elems(context), g.elems(e.Payload)}
		check(s.Write(e, 10*uint64(i), values[0], values[1]))
		written = append(written, values)
		if i == 1000 {
			streams[0].SetDiscarded(7)
			check(streams[0].SetContext([]ctf.Value{{Bits: 99}}))
			check(streams[0].Flush())
		}
	}
	check(w.Close())
	return written
}
