package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/tracer"
)

// demoInProcess runs the server with probes of its own, which print what they see.
func demoInProcess(ctx context.Context, e *term.Env, server string) error {
	step(e, "./server -watch 500ms", "functions that the server connects to its own markers")
	cmd := exec.CommandContext(ctx, server, append([]string{"-watch", "500ms"}, demoLoad...)...)
	view, err := newDemoView(e, nil)
	if err != nil {
		return err
	}
	defer view.out.Close()
	var latencies tracer.Latencies
	lines := &lineWriter{line: func(line []byte) {
		var s struct {
			Seen      map[string]uint64 `json:"seen"`
			Latencies []time.Duration   `json:"latencies_ns"`
		}
		if json.Unmarshal(line, &s) != nil || s.Seen == nil {
			return
		}
		for _, name := range []string{"http:accept", "http:request_start", "http:request_end", "cache:hit", "cache:miss"} {
			view.add(name, s.Seen[name])
		}
		for _, d := range s.Latencies {
			latencies.Add(d)
			latencies.Begins++
			latencies.Ends++
		}
		_ = view.draw(false) // a terminal that is gone is found at the end
	}}
	cmd.Stdout, cmd.Stderr = lines, e.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the example server: %w", err)
	}
	if err := view.draw(true); err != nil {
		return err
	}
	fmt.Fprintln(e.Stdout)
	if err := view.latencies(&latencies); err != nil {
		return err
	}
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
