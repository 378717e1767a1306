package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/tracer"
)

// demoView shows counts as waymark stat does: drawn in place on a terminal, once at the end
// elsewhere.
type demoView struct {
	env   *term.Env
	out   *term.Output
	stat  statView
	begun time.Time
	drawn time.Duration // when it was drawn last, since begun
	rows  []statRow
	index map[string]int // of rows, by name
}

// newDemoView shows the markers in their order, or as they come when there are none yet.
func newDemoView(e *term.Env, markers []*tracer.Marker) (*demoView, error) {
	out, err := e.OpenOutput("", false)
	if err != nil {
		return nil, err
	}
	v := &demoView{env: e, out: out, begun: time.Now(), index: map[string]int{}}
	plain := statPlain{out: out}
	if v.stat = &plain; out.IsScreen() {
		v.stat = newStatLive(out, plain)
	}
	for _, m := range markers {
		v.set(m, 0)
	}
	return v, nil
}

func (v *demoView) set(m *tracer.Marker, n uint64) {
	i, ok := v.index[m.FullName()]
	if !ok {
		i = len(v.rows)
		v.index[m.FullName()] = i
		v.rows = append(v.rows, statRow{rowID: rowID{marker: m}})
	}
	v.rows[i].delta += n - v.rows[i].count
	v.rows[i].count = n
}

// add adds hits of a marker that only its name tells.
func (v *demoView) add(name string, n uint64) {
	if i, ok := v.index[name]; ok {
		v.set(v.rows[i].marker, v.rows[i].count+n)
		return
	}
	m := &tracer.Marker{}
	m.Provider, m.Name, _ = strings.Cut(name, ":")
	v.set(m, n)
}

func (v *demoView) draw(last bool) error {
	now := time.Since(v.begun)
	s := &sample{at: time.Now(), elapsed: now, interval: now - v.drawn, rows: v.rows}
	show := v.stat.interval
	if last {
		show = func(s *sample) error { return v.stat.final(s, byCommand) }
	}
	err := show(s)
	v.drawn = now
	for i := range v.rows {
		v.rows[i].delta = 0
	}
	if err == nil {
		err = v.out.Flush() // what follows is not written through it
	}
	return err
}

// clear takes back what was drawn.
func (v *demoView) clear() error {
	if live, ok := v.stat.(*statLive); ok {
		return live.Clear()
	}
	return nil
}

// latencies shows how long requests took, as waymark latency does.
func (v *demoView) latencies(l *tracer.Latencies) error {
	title := func() string { return strings.Join(demoPair, " → ") + ", by goroutine" }
	view := latencyPlain{out: v.out, title: title}
	err := view.final(&latencySample{at: time.Now(), elapsed: time.Since(v.begun), all: l}, byCommand)
	if err == nil {
		err = v.out.Flush()
	}
	return err
}

// verdict compares what was counted with what the server says of itself.
func (v *demoView) verdict(output []byte, who string) error {
	own, err := demoSummary(output)
	if err != nil {
		return err
	}
	total := uint64(0)
	for i := range v.rows {
		r := &v.rows[i]
		total += r.count
		if name := r.marker.FullName(); r.count != own[name] {
			return fmt.Errorf("%s counted %d hits of %s, the server itself %d", who, r.count, name, own[name])
		}
	}
	fmt.Fprintf(v.env.Stdout, "\n%s counted %d hits of %s in %.1f s, exactly as many as the server itself.\n",
		who, total, term.Plural(len(v.rows), "marker"), time.Since(v.begun).Seconds())
	return nil
}

// demoSummary reads the server's own counts from the line of JSON among its output.
func demoSummary(output []byte) (map[string]uint64, error) {
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
