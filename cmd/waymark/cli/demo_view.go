package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/tracer"
)

// lockedBuffer collects what a command prints.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) Bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.b.Bytes())
}

// demoView is the table of counts, drawn in place on a terminal and once at the end elsewhere.
type demoView struct {
	env    *Env
	begun  time.Time
	names  []string
	counts map[string]uint64
	drawn  int
}

// newDemoView shows the markers in their order, or as they come when there are none yet.
func newDemoView(e *Env, markers []*tracer.Marker) *demoView {
	v := &demoView{env: e, begun: time.Now(), counts: make(map[string]uint64)}
	for _, m := range markers {
		v.set(m.FullName(), 0)
	}
	return v
}

func (v *demoView) set(name string, n uint64) {
	if _, ok := v.counts[name]; !ok {
		v.names = append(v.names, name)
	}
	v.counts[name] = n
}

func (v *demoView) draw(last bool) {
	live := isScreen(v.env.Stdout)
	if !live && !last {
		return
	}
	seconds := max(time.Since(v.begun).Seconds(), 0.001)
	t := table{right: []bool{false, true, true}}
	t.add("MARKER", "COUNT", "RATE/S")
	for _, name := range v.names {
		t.add(name, fmt.Sprint(v.counts[name]), fmt.Sprintf("%.0f", float64(v.counts[name])/seconds))
	}
	if live && v.drawn > 0 {
		fmt.Fprintf(v.env.Stdout, "\x1b[%dA\x1b[J", v.drawn)
	}
	lines := t.lines()
	v.drawn = len(lines)
	fmt.Fprintln(v.env.Stdout, strings.Join(lines, "\n"))
}

// verdict compares what was counted with what the server says of itself.
func (v *demoView) verdict(output []byte, who string) error {
	own, err := demoSummary(output)
	if err != nil {
		return err
	}
	total := uint64(0)
	for _, name := range v.names {
		total += v.counts[name]
		if got, want := v.counts[name], own[name]; got != want {
			return fmt.Errorf("%s counted %d hits of %s, the server itself %d", who, got, name, want)
		}
	}
	fmt.Fprintf(v.env.Stdout, "\n%s counted %d hits of %s in %.1f s, exactly as many as the server itself.\n",
		who, total, plural(len(v.names), "marker"), time.Since(v.begun).Seconds())
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
	return nil, fmt.Errorf("the example server printed no summary: %q", clip(printable(string(output)), 200))
}

// demoInProcess runs the server with probes of its own, which print what they see.
func (e *Env) demoInProcess(ctx context.Context, server string) error {
	e.step("./server -watch 500ms", "functions that the server connects to its own markers")
	cmd := exec.CommandContext(ctx, server, append([]string{"-watch", "500ms"}, demoLoad...)...)
	view := newDemoView(e, nil)
	var latencies tracer.Histogram
	lines := &lineWriter{line: func(line []byte) {
		var s struct {
			Seen      map[string]uint64 `json:"seen"`
			Latencies []time.Duration   `json:"latencies_ns"`
		}
		if json.Unmarshal(line, &s) != nil || s.Seen == nil {
			return
		}
		for _, name := range []string{"http:accept", "http:request_start", "http:request_end", "cache:hit", "cache:miss"} {
			view.set(name, view.counts[name]+s.Seen[name])
		}
		for _, d := range s.Latencies {
			latencies.Add(d)
		}
		view.draw(false)
	}}
	cmd.Stdout, cmd.Stderr = lines, e.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the example server: %w", err)
	}
	view.draw(true)
	fmt.Fprintln(e.Stdout)
	e.demoLatencies(&latencies)
	return view.verdict(lines.all.Bytes(), "the probes")
}

// lineWriter calls line for every line written to it, and keeps them all.
type lineWriter struct {
	line func([]byte)
	rest []byte
	all  bytes.Buffer
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.all.Write(p)
	w.rest = append(w.rest, p...)
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		w.line(w.rest[:i])
		w.rest = w.rest[i+1:]
	}
}
