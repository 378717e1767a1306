package tracer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/filter"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// valuesProgram returns testdata/values.c, built once.
func valuesProgram(t testing.TB) string {
	t.Helper()
	peer.Root(t)
	gcc := peer.Need(t, "gcc")[0]
	peer.Header(t, "sys/sdt.h")
	out := filepath.Join(binDir, "values")
	if _, err := os.Stat(out); err != nil {
		run(t, gcc, "-O2", "-o", out, "testdata/values.c")
	}
	return out
}

// row is what one turn of the program marks.
type row struct {
	a, b, c, d uint64
	text       string
}

func (r row) String() string { return fmt.Sprintf("%x %x %x %x %s", r.a, r.b, r.c, r.d, r.text) }

var extremes = []uint64{0, 1, 2, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 32,
	math.MaxInt64, 1 << 63, math.MaxUint64, math.MaxUint64 - 1, 1<<63 | 1, math.Float64bits(1.5), math.Float64bits(-1.5),
	math.Float64bits(math.NaN()), math.Float64bits(math.Inf(-1)), uint64(math.Float32bits(-0.1)), 0x7fc00000, 0x7f800000}

var words = []string{"", "a", "GET /api/v1/items", "/api/", "/api/x", "abcabc", "aXb", "SELECT 1", strings.Repeat("ab", 100),
	strings.Repeat("x", 126), strings.Repeat("x", 127), strings.Repeat("x", 128) + "end", strings.Repeat("y", filter.MaxText),
	strings.Repeat("y", filter.MaxText+1), strings.Repeat("z", 3000) + "end", "\xff\x80", "."}

func rows(r *rand.Rand, n int) []row {
	any := func() uint64 {
		v := extremes[r.IntN(len(extremes))]
		if r.IntN(4) == 0 {
			v += r.Uint64N(5) - 2
		}
		return v
	}
	var all []row
	for range n {
		w := row{any(), any(), 0, any(), words[r.IntN(len(words))]}
		w.c = uint64(len(w.text)) // a length that is one, mostly
		switch r.IntN(8) {
		case 0:
			w.c = r.Uint64N(uint64(len(w.text) + 1))
		case 1:
			w.c = any()
		}
		all = append(all, w)
	}
	return all
}

// An expression over the fields of a marker, at random.
type grammar struct {
	*rand.Rand
	integers, floats, texts []string
}

func (g *grammar) condition(depth int) string {
	if depth > 0 && g.IntN(3) > 0 {
		x, y := g.condition(depth-1), g.condition(depth-1)
		return []string{"(" + x + " && " + y + ")", "(" + x + " || " + y + ")", "!(" + x + ")"}[g.IntN(3)]
	}
	op := []string{"==", "!=", "<", "<=", ">", ">="}[g.IntN(6)]
	switch pick := g.IntN(4); {
	case pick == 0 && len(g.floats) > 0:
		return g.floats[g.IntN(len(g.floats))] + op + []string{"0", "1.5", "-1.5", "0.1", "-0.1", "1e300", "-3"}[g.IntN(7)]
	case pick <= 1 && len(g.texts) > 0:
		pattern := []string{"", "*", "a", "a*", "*a", "*b*", "/api/*", "?b*", "*[xyz]", "*x*end", "GET*items", "[^a]*", "y*", `a\*`,
			strings.Repeat("x", 62) + "*", "*" + strings.Repeat("y", 62)}[g.IntN(16)]
		return fmt.Sprintf("%s %s %q", g.texts[g.IntN(len(g.texts))], []string{"~", "!~"}[g.IntN(2)], pattern)
	case pick == 2 && len(g.texts) > 0:
		return fmt.Sprintf("%s %s %q", g.texts[g.IntN(len(g.texts))], []string{"==", "!="}[g.IntN(2)], []string{"a", "", "/api/", "SELECT 1", "\xff\x80"}[g.IntN(5)])
	}
	return g.number(2) + op + g.number(2)
}

func (g *grammar) number(depth int) string {
	if depth > 0 && g.IntN(4) == 0 {
		return "(" + g.number(depth-1) + []string{" + ", " - ", " & "}[g.IntN(3)] + g.number(depth-1) + ")"
	}
	if g.IntN(2) == 0 && len(g.integers) > 0 {
		return g.integers[g.IntN(len(g.integers))]
	}
	v := extremes[g.IntN(len(extremes))]
	if g.IntN(2) == 0 {
		return fmt.Sprint(int64(v))
	}
	return fmt.Sprintf("%#x", v)
}

// The kernel decides every condition as Go does, over values at the ends of their types and in between.
func TestWhereAgreesWithGo(t *testing.T) {
	path := valuesProgram(t)
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			force(t, mode)
			r := rand.New(rand.NewPCG(peer.FixedSeed(t, 1), uint64(mode)))
			for _, test := range []struct {
				marker string
				grammar
				values func(row) map[string]filter.Value
			}{
				{"numbers", grammar{r, []string{"arg2", "arg3", "arg4", "arg5", "arg6", "arg7", "arg8", "arg9", "arg10"}, nil, nil}, numberValues},
				{"reals", grammar{r, []string{"arg1"}, []string{"arg2", "arg3"}, nil}, realValues},
				{"texts", grammar{r, []string{"arg5"}, nil, []string{"arg2", "arg4"}}, textValues},
			} {
				t.Run(test.marker, func(t *testing.T) {
					expressions := 40
					if mode != modes[0] || testing.Short() {
						expressions = 12
					}
					whereAgrees(t, path, test.marker, &test.grammar, test.values, expressions)
				})
			}
		})
	}
}

func numberValues(w row) map[string]filter.Value {
	a := w.a
	return map[string]filter.Value{
		"arg2": {Bits: uint64(int8(a))}, "arg3": {Bits: uint64(uint8(a))}, "arg4": {Bits: uint64(int16(a))}, "arg5": {Bits: uint64(uint16(a))},
		"arg6": {Bits: uint64(int32(a))}, "arg7": {Bits: uint64(uint32(a))}, "arg8": {Bits: a}, "arg9": {Bits: a}, "arg10": {Bits: w.b},
	}
}

func realValues(w row) map[string]filter.Value {
	return map[string]filter.Value{"arg2": {Bits: w.d}, "arg3": {Bits: uint64(uint32(w.d))}}
}

func textValues(w row) map[string]filter.Value {
	v := map[string]filter.Value{"arg5": {Bits: uint64(int32(w.c))}}
	if w.text == "." {
		if int32(w.c) == 0 {
			v["arg4"] = filter.Value{}
		}
		return v // a null pointer
	}
	v["arg2"] = filter.Value{Text: []byte(w.text)}
	if n := uint64(int64(int32(w.c))); n <= uint64(len(w.text)) {
		v["arg4"] = filter.Value{Text: []byte(w.text)[:n]}
	}
	return v
}

func whereAgrees(t *testing.T, path, name string, g *grammar, values func(row) map[string]filter.Value, expressions int) {
	p := startTick(t, path, 0)
	target := PIDs(p.PID())
	markers := mustFind(t, target, name)
	var o Attach
	if name == "texts" {
		o.Strings = []string{"arg2", "arg4:arg5"}
	}
	typed, err := model.WithStrings(markers, o.Strings, true)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]event.Kind{}
	for _, f := range typed[0].Fields {
		kinds[f.Name] = f.Kind
	}
	if name == "texts" {
		kinds["arg5"] = event.Int32 // the length is no field of its own, and has its number
	}
	all := rows(g.Rand, 200)
	if name == "texts" { // what lies behind a text is the program's, and Go does not know it
		for i := range all {
			if n := int64(int32(all[i].c)); n < 0 || n > int64(len(all[i].text)) {
				all[i].c = uint64(len(all[i].text))
			}
		}
	}
	for range expressions {
		where := g.condition(3)
		expr, err := filter.Parse(where)
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		bound, err := expr.Bind(func(name string) (event.Kind, error) { return kinds[name], nil })
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		var want []int64
		for i, w := range all {
			known := values(w)
			known["arg1"] = filter.Value{Bits: uint64(i)}
			if bound.Eval(func(v int) (filter.Value, bool) { x, ok := known[bound.Vars[v].Name]; return x, ok }) {
				want = append(want, int64(i))
			}
		}
		o.Where = where
		tr, err := Trace(target, markers, &TraceOptions{Attach: o})
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		counter, err := Count(target, markers, &CountOptions{Attach: o})
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		for _, w := range all {
			p.Tell(w.String())
		}
		p.Tell("end")
		p.Expect(fmt.Sprintf("done %d", len(all)))
		if err := tr.Stop(); err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, e := range drain(t, tr) {
			got = append(got, int64(e.Values[0].Bits()))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s (-want +got):\n%s", where, cmp.Diff(want, got))
			for i, w := range all {
				if slices.Contains(want, int64(i)) != slices.Contains(got, int64(i)) {
					t.Fatalf("first of %q", w)
				}
			}
		}
		filtered, err := tr.Filtered()
		if n := uint64(len(all) - len(want)); filtered != n || err != nil {
			t.Errorf("%s: %d filtered, %v; want %d", where, filtered, err, n)
		}
		if n := hits(t, counter)[name]; n != uint64(len(want)) {
			t.Errorf("%s: counted %d, want %d", where, n, len(want))
		}
		closeNow(t, tr)
		closeNow(t, counter)
	}
}

func TestWhereErrors(t *testing.T) {
	path := valuesProgram(t)
	markers := mustFind(t, Path(path), "numbers")
	for where, want := range map[string]string{
		"arg1 = 1":      "column 6: an operator such as == or && is missing",
		"arg1 == ":      "column 9: a name, a number or a text is missing",
		"arg1 > 1 && x": "column 13: values:numbers has no field x",
		"arg11 > 1":     "column 1: values:numbers has no field arg11",
		`arg1 == "x"`:   "column 1: arg1 is a number, not a text",
		"arg1":          "column 1: arg1, a value of kind int64, is no condition",
	} {
		_, err := Trace(Path(path), markers, &TraceOptions{Attach: Attach{Where: where}})
		var e *WhereError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", where, err, want)
		}
	}
}
