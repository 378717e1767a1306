package cli

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// reportLatency measures the time from one marker to another.
type reportLatency struct {
	out         *term.Output
	json        bool
	table       view.LatencyTable
	key, endKey string
	from, to    []*event.Point
	pairs       *source.Pairs
	all         tracer.Latencies
	clock       source.Clock
	last        time.Duration // of the last event
}

func newReportLatency(e *term.Env, out *term.Output, o *reportOptions, r *recording.Reader, patterns []string) (*reportLatency, error) {
	v := &reportLatency{out: out, json: o.json, clock: r.Clock(), table: o.table()}
	points := r.Points()
	var err error
	if v.from, err = selectPoints(points, patterns[:1]); err != nil {
		return nil, err
	}
	if v.to, err = selectPoints(points, patterns[1:]); err != nil {
		return nil, err
	}
	v.key, v.endKey = o.names()
	v.endKey = cmp.Or(v.endKey, v.key)
	if err := v.checkKey(r); err != nil {
		return nil, err
	}
	if err := v.checkGroups(r, o.by); err != nil {
		return nil, err
	}
	o.note(e, v.from, v.to, anyKey)
	v.pairs = source.NewPairs(source.PairOptions{
		Begins: func(p *event.Point) bool { return slices.Contains(v.from, p) },
		Ends:   func(p *event.Point) bool { return slices.Contains(v.to, p) },
		Key:    v.key, EndKey: v.endKey, By: o.by,
	})
	return v, nil
}

// anyKey is what pairs are joined by unless --key says otherwise.
const anyKey = "goroutine or thread"

// checkKey refuses to join by threads that the trace does not have: all events would be of one.
func (v *reportLatency) checkKey(r *recording.Reader) error {
	check := func(points []*event.Point, key string) error {
		for _, p := range points {
			switch {
			case key == "" && (r.Has(p, "tid") || r.Has(p, "goroutine")):
			case key == "" || !hasKey(r, p, key):
				return term.WithHint(fmt.Errorf("events of %s have no %s in this trace, which would join begin and end", p.FullName(), cmp.Or(key, "thread id")),
					"name a field that both markers have: --key FIELD; LTTng records thread ids after lttng add-context -u -t vtid")
			}
		}
		return nil
	}
	if err := check(v.from, v.key); err != nil {
		return err
	}
	return check(v.to, v.endKey)
}

// checkGroups refuses names of which there is no value in the trace.
func (v *reportLatency) checkGroups(r *recording.Reader, by []string) error {
	for _, name := range by {
		has := func(p *event.Point) bool { return hasKey(r, p, name) }
		if !slices.ContainsFunc(v.from, has) && !slices.ContainsFunc(v.to, has) {
			return term.WithHint(fmt.Errorf("--by %s: neither begins nor ends have such a value in this trace", name), "waymark report shows the fields; there may be pid, tid, comm, cpu and goroutine, too")
		}
	}
	return nil
}

// hasKey reports whether events of a point have a value with a name: a field, or what the trace has of every event.
func hasKey(r *recording.Reader, p *event.Point, name string) bool {
	if p.Lookup(name) >= 0 {
		return true
	}
	_, ok := source.BuiltinField(name)
	if name == "gid" {
		name = "goroutine"
	}
	return ok && (name == "cpu" || r.Has(p, name))
}

// Recorded adds an event.
func (v *reportLatency) Recorded(e *recording.Event) error {
	v.last = e.Time
	if took, ended := v.pairs.Add(&e.Event); ended {
		v.all.Add(took)
	}
	return nil
}

// Summary prints the histogram.
func (v *reportLatency) Summary(sum *view.TraceSummary) error {
	n := v.pairs.Counts()
	v.all.Begins, v.all.Ends, v.all.Nested, v.all.Unread, v.all.Full = n.Begins, n.Ends, n.Nested, n.Unread, n.Full
	for _, g := range v.pairs.Groups() {
		v.all.Keys = append(v.all.Keys, tracer.KeyLatency{Key: &tracer.Key{Values: g.Values}, Fields: g.Fields, Histogram: g.Histogram})
	}
	v.all.Others = *v.pairs.Others()
	var sampler view.LatencySampler
	s := sampler.Sample(v.clock.Wall(v.last), sum.Elapsed, &v.all)
	key, endKey := cmp.Or(v.key, anyKey), cmp.Or(v.endKey, anyKey)
	if v.json {
		return (&view.LatencyJSON{Out: v.out, Table: v.table, Object: func() view.LatencyObject {
			return view.LatencyObject{From: view.Names(v.from), To: view.Names(v.to), Key: key, ToKey: endKey}
		}}).Final(s, view.ByTrace)
	}
	title := pairTitle(view.MarkerNames(v.from, "none"), view.MarkerNames(v.to, "none"), key, endKey)
	return (&view.LatencyPlain{Out: v.out, Title: func() string { return title }, Table: v.table}).Final(s, view.ByTrace)
}
