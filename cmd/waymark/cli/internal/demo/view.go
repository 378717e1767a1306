package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer"
)

// counts shows counts as waymark stat does: drawn in place on a terminal, once at the end
// elsewhere.
type counts struct {
	env     *term.Env
	out     *term.Output
	stat    view.View[*view.Sample]
	begun   time.Time
	sampler view.Sampler
	last    *view.Sample
	seen    []tracer.MarkerCount // of probes in the server
}

func newCounts(e *term.Env) (*counts, error) {
	out, err := e.OpenOutput("", false)
	if err != nil {
		return nil, err
	}
	v := &counts{env: e, out: out, begun: time.Now()}
	plain := view.StatPlain{Out: out}
	if v.stat = &plain; out.IsScreen() {
		v.stat = view.NewStatLive(out, plain)
	}
	return v, nil
}

// add adds hits of a marker that is known by its name only.
func (v *counts) add(name string, n uint64) {
	for i := range v.seen {
		if v.seen[i].Marker.FullName() == name {
			v.seen[i].Count += n
			return
		}
	}
	m := &tracer.Marker{}
	m.Provider, m.Name, _ = strings.Cut(name, ":")
	v.seen = append(v.seen, tracer.MarkerCount{Marker: m, Count: n})
}

func (v *counts) draw(counts []tracer.MarkerCount, last bool) (err error) {
	v.last = v.sampler.Sample(time.Since(v.begun), counts, nil)
	if last {
		err = v.stat.Final(v.last, view.ByCommand)
	} else {
		err = v.stat.Interval(v.last)
	}
	if err == nil {
		err = v.out.Flush() // the next steps do not write through it
	}
	return err
}

// clear takes back what was drawn.
func (v *counts) clear() error {
	if live, ok := v.stat.(interface{ Clear() error }); ok {
		return live.Clear()
	}
	return nil
}

// latencies shows how long requests took, as waymark latency does.
func (v *counts) latencies(l *tracer.Latencies) error {
	title := func() string { return strings.Join(pair, " → ") + ", joined by goroutine" }
	plain := view.LatencyPlain{Out: v.out, Title: title}
	err := plain.Final(&view.LatencySample{At: time.Now(), Elapsed: time.Since(v.begun), All: l}, view.ByCommand)
	if err == nil {
		err = v.out.Flush()
	}
	return err
}

// verdict compares what was counted with what the server says of itself.
func (v *counts) verdict(output []byte, who string) error {
	own, err := serverCounts(output)
	if err != nil {
		return err
	}
	total := uint64(0)
	for _, r := range v.last.Rows {
		total += r.Count
		if name := r.Marker.FullName(); r.Count != own[name] {
			return fmt.Errorf("%s counted %d hits of %s, the server itself %d", who, r.Count, name, own[name])
		}
	}
	term.Linef(v.env.Stdout, "")
	return term.Linef(v.env.Stdout, "%s counted %d hits of %s in %.1f s, exactly as many as the server itself.",
		who, total, term.Plural(len(v.last.Rows), "marker"), time.Since(v.begun).Seconds())
}

// serverCounts reads the server's own counts from the line of JSON among its output.
func serverCounts(output []byte) (map[string]uint64, error) {
	for line := range bytes.Lines(output) {
		var s struct {
			Markers map[string]uint64 `json:"markers"`
		}
		if json.Unmarshal(line, &s) == nil && s.Markers != nil {
			return s.Markers, nil
		}
	}
	return nil, fmt.Errorf("the example server printed no summary: %q", term.Clip(term.Printable(string(output)), 200))
}
