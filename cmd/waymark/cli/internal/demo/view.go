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
	env   *term.Env
	out   *term.Output
	stat  view.View[*view.Sample]
	begun time.Time
	drawn time.Duration // when it was drawn last, since begun
	rows  []view.StatRow
	index map[string]int // of rows, by name
}

// newCounts shows the markers in their order, or as they come when there are none yet.
func newCounts(e *term.Env, markers []*tracer.Marker) (*counts, error) {
	out, err := e.OpenOutput("", false)
	if err != nil {
		return nil, err
	}
	v := &counts{env: e, out: out, begun: time.Now(), index: map[string]int{}}
	plain := view.StatPlain{Out: out}
	if v.stat = &plain; out.IsScreen() {
		v.stat = view.NewStatLive(out, plain)
	}
	for _, m := range markers {
		v.set(m, 0)
	}
	return v, nil
}

func (v *counts) set(m *tracer.Marker, n uint64) {
	i, ok := v.index[m.FullName()]
	if !ok {
		i = len(v.rows)
		v.index[m.FullName()] = i
		v.rows = append(v.rows, view.StatRow{RowID: view.RowID{Marker: m}})
	}
	v.rows[i].Delta += n - v.rows[i].Count
	v.rows[i].Count = n
}

// add adds hits of a marker that only its name tells.
func (v *counts) add(name string, n uint64) {
	if i, ok := v.index[name]; ok {
		v.set(v.rows[i].Marker, v.rows[i].Count+n)
		return
	}
	m := &tracer.Marker{}
	m.Provider, m.Name, _ = strings.Cut(name, ":")
	v.set(m, n)
}

func (v *counts) draw(last bool) error {
	now := time.Since(v.begun)
	s := &view.Sample{At: time.Now(), Elapsed: now, Interval: now - v.drawn, Rows: v.rows}
	show := v.stat.Interval
	if last {
		show = func(s *view.Sample) error { return v.stat.Final(s, view.ByCommand) }
	}
	err := show(s)
	v.drawn = now
	for i := range v.rows {
		v.rows[i].Delta = 0
	}
	if err == nil {
		err = v.out.Flush() // what follows is not written through it
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
	title := func() string { return strings.Join(pair, " → ") + ", by goroutine" }
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
	for i := range v.rows {
		r := &v.rows[i]
		total += r.Count
		if name := r.Marker.FullName(); r.Count != own[name] {
			return fmt.Errorf("%s counted %d hits of %s, the server itself %d", who, r.Count, name, own[name])
		}
	}
	fmt.Fprintf(v.env.Stdout, "\n%s counted %d hits of %s in %.1f s, exactly as many as the server itself.\n",
		who, total, term.Plural(len(v.rows), "marker"), time.Since(v.begun).Seconds())
	return nil
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
