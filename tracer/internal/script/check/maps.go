package check

import (
	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/syntax"
)

// undefined reports a map without an assignment.
func (k *code) undefined(m *ir.Map, s syntax.Span) {
	k.fail(s, "assign to it in some probe", "map %s has no value: nothing is assigned to it", m.Name)
}

// keyed notes that a map has keys.
func (k *code) keyed(m *ir.Map, s syntax.Span, text string) {
	if m.Key.Base == ir.None {
		k.fail(s, "", "%s and map %s has none", text, m.Name)
	}
}

// key returns the key of a map expression, nil for a scalar, and widens the type of the map's keys.
func (k *code) key(m *ir.Map, x *syntax.Expr) *ir.Expr {
	if len(x.Args) == 0 {
		if m.Key.Base == ir.Unknown {
			m.Key, k.changed = ir.NoType, true
		} else if m.Key.Base != ir.None {
			k.fail(x.Span, "write a key, as everywhere else", "map %s is used with keys and without", m.Name)
		}
		return nil
	}
	key := k.keyOf(x.Args, x.Span)
	k.widenKey(m, x.Span, key)
	return key
}

// keyOf returns one expression or a tuple of several as a key.
func (k *code) keyOf(args []*syntax.Expr, s syntax.Span) *ir.Expr {
	k.keys++
	defer func() { k.keys-- }()
	if len(args) == 1 {
		return k.value(args[0])
	}
	return k.tuple(args, s)
}

func (k *code) widenKey(m *ir.Map, s syntax.Span, key *ir.Expr) {
	if m.Key.Base == ir.None {
		k.fail(s, "write no key, as everywhere else", "map %s is used with keys and without", m.Name)
		return
	}
	if bad := notAKey(key.Type); bad != "" {
		k.fail(s, "use an integer, a text or a tuple of these", "%s as a key", bad)
		return
	}
	w, ok := k.widen(m.Key, key.Type)
	if !ok {
		k.fail(s, "use another map", "the keys of map %s are %s, and this one is %s", m.Name, m.Key, key.Type)
		return
	}
	m.Key = w
}

// notAKey returns the name of a type that cannot be a key, or "".
func notAKey(t ir.Type) string {
	switch t.Base {
	case ir.Float, ir.Time, ir.None, ir.Agg:
		return t.String()
	case ir.Tuple:
		for _, e := range t.Elems {
			if bad := notAKey(e); bad != "" {
				return bad
			}
		}
	}
	return ""
}

// load returns the value of a map at a key.
func (k *code) load(x *syntax.Expr) *ir.Expr {
	m := k.mapOf(x.Name)
	out := &ir.Expr{Op: ir.LoadMap, Map: m, At: x.Begin, Type: m.Value}
	if key := k.key(m, x); key != nil {
		out.Args = []*ir.Expr{key}
	}
	if m.Value.Base == ir.Unknown && k.final && !k.target.Open {
		k.undefined(m, x.Span)
	}
	return out
}

// assignMap checks @map[key] = x, @map[key] += x and @map[key] = count().
func (k *code) assignMap(s *syntax.Stmt, out *ir.Stmt) *ir.Stmt {
	m := k.mapOf(s.Target.Name)
	out.Map = m
	if s.X.Kind == syntax.CallExpr {
		if agg, ok := ir.Aggregates[s.X.Name]; ok {
			if s.Op != "=" {
				k.fail(s.Span, "write = in place of "+s.Op, "%s with %s()", s.Op, agg)
			}
			out.Op = ir.Aggregate
			t := k.aggregation(agg, s.X, out)
			out.Key = k.key(m, s.Target)
			k.setValue(m, s, t)
			return out
		}
	}
	if s.Op == "=" {
		out.Op, out.X = ir.SetMap, k.value(s.X)
		out.Key = k.key(m, s.Target)
		k.setValue(m, s, out.X.Type)
		out.X = convert(out.X, m.Value)
		return out
	}
	out.Op, out.X = ir.UpdateMap, k.integer(s.X)
	out.Key = k.key(m, s.Target)
	op := binaryOps[s.Op[:len(s.Op)-1]]
	left := m.Value
	if left.Base == ir.Unknown {
		left = out.X.Type
	}
	if left.Base == ir.Unknown || out.X.Type.Base == ir.Unknown {
		return out
	}
	if left.Base != ir.Int {
		k.fail(s.Span, "use another map", "%s on map %s, whose values are %s", s.Op, m.Name, m.Value)
		return out
	}
	var t ir.Type
	t, out.Signed = arithmeticType(op, left, out.X.Type)
	out.Binary = op
	k.setValue(m, s, t)
	return out
}

// setValue widens the type of a map's values.
func (k *code) setValue(m *ir.Map, s *syntax.Stmt, t ir.Type) {
	if t.Base == ir.Time || t.Base == ir.None {
		k.fail(s.X.Span, "print it, or store the number that it is made of", "%s as the value of a map", t)
		return
	}
	if (m.Value.Base == ir.Agg) != (t.Base == ir.Agg) && m.Value.Base != ir.Unknown && t.Base != ir.Unknown {
		k.fail(s.Span, "use another map", "map %s has values of %s and of %s", m.Name, m.Value, t)
		return
	}
	w, ok := k.widen(m.Value, t)
	if !ok {
		k.fail(s.Span, "use another map", "the values of map %s are %s, and this one is %s", m.Name, m.Value, t)
		return
	}
	m.Value = w
}

// Limits of the parameters of aggregations.
const (
	maxBuckets   = 1000
	maxIntervals = 1 << 16
)

// aggregation checks the arguments of count(), sum(n) and so on, and returns the type of the map's values.
func (k *code) aggregation(agg ir.Aggregation, x *syntax.Expr, out *ir.Stmt) ir.Type {
	t := ir.Type{Base: ir.Agg, Agg: agg}
	least, most := 1, 1
	switch agg {
	case ir.Count:
		least, most = 0, 0
	case ir.Hist:
		most = 2
	case ir.LHist:
		least, most = 4, 4
	case ir.TSeries:
		least, most = 3, 4
	}
	if !k.arity(x, least, most) {
		return t
	}
	if agg != ir.Count {
		out.X = k.integer(x.Args[0])
		t.Signed = out.X.Type.Signed
	}
	switch agg {
	case ir.Hist:
		t.Signed = true
		if len(x.Args) == 2 {
			t.Params[0] = k.constant(x.Args[1], "the second argument of hist", 0, 5)
		}
	case ir.LHist:
		t.Signed = true
		for i := range t.Params {
			t.Params[i] = k.constant(x.Args[1+i], "the range of lhist", -1<<31, 1<<31-1)
		}
		low, high, step := t.Params[0], t.Params[1], t.Params[2]
		switch {
		case step <= 0 || low >= high:
			k.fail(x.Span, "such as lhist(n, 0, 100, 10)", "lhist needs a minimum below the maximum and a step above 0")
			t.Params = [3]int64{0, 1, 1}
		case (high-low)/step > maxBuckets:
			k.fail(x.Span, "use a larger step", "lhist has more than %d buckets", maxBuckets)
		}
	case ir.TSeries:
		k.series(x, &t)
	}
	return t
}

// seriesFunctions are the aggregations of tseries by name; the last value without one.
var seriesFunctions = []string{"", "avg", "max", "min", "sum"}

func (k *code) series(x *syntax.Expr, t *ir.Type) {
	t.Params[0] = k.constant(x.Args[1], "the interval of tseries", 1, 1<<62)
	t.Params[1] = k.constant(x.Args[2], "the number of intervals of tseries", 1, maxIntervals)
	if len(x.Args) < 4 {
		return
	}
	for i, name := range seriesFunctions {
		if i > 0 && x.Args[3].Kind == syntax.StrExpr && x.Args[3].Name == name {
			t.Params[2] = int64(i)
			return
		}
	}
	k.fail(x.Args[3].Span, "", `the aggregation of tseries is "avg", "max", "min" or "sum"`)
}
