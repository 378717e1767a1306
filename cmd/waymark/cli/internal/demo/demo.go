// Package demo shows what waymark does on a real web server, each step below the command that a user would type.
package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/build"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/link"
)

const (
	modulePath  = "github.com/waymark-trace/waymark"
	demoProgram = modulePath + "/examples/httpserver"
)

// load is a load of some four seconds.
var load = []string{"-load", "8000", "-clients", "8", "-pause", "2ms"}

// Run builds, links, lists, counts and measures the example server, which takes some seconds. The kernel's engine does it, else the
// agent in the server, else probes of its own.
func Run(ctx context.Context, e *term.Env) error {
	dir, err := os.MkdirTemp("", "waymark-demo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	server := filepath.Join(dir, "server")

	step(e, "go build -o server ./examples/httpserver", "a web server with five markers")
	if err := buildServer(ctx, e, server); err != nil {
		return err
	}
	report, linkErr := link.File(server, "", link.Options{})
	if linkErr == nil {
		step(e, "waymark link server", "gives every marker an address and an SDT note")
		report.Warnings = nil // of the example's code, about which its user can do nothing
		if err := build.Print(e, e.Stdout, report, server, false); err != nil {
			return err
		}
		if err := listMarkers(ctx, e, server); err != nil {
			return err
		}
	} else if !errors.Is(linkErr, link.ErrNotELF) {
		return linkErr
	}
	err = byEngine(ctx, e, server, tracer.EngineKernel)
	var denied *tracer.PermissionError
	if errors.As(err, &denied) || errors.Is(err, tracer.ErrNotSupported) {
		e.Message("the kernel engine cannot be used here: %v", err)
		if denied != nil && denied.Hint != "" {
			e.Hint("%s", denied.Hint)
		}
		e.Message("the agent inside the server looks instead")
		err = byEngine(ctx, e, server, tracer.EngineAgent)
	}
	if errors.Is(err, tracer.ErrNotSupported) {
		e.Message("agents are on Linux: probes inside the server look instead")
		return inProcess(ctx, e, server)
	}
	return err
}

// step shows the command that a user would type.
func step(e *term.Env, command, what string) {
	st := term.StyleFor(e.Stdout)
	term.Linef(e.Stdout, "")
	term.Linef(e.Stdout, "%s  %s", st.Bold("$ "+command), st.Dim("# "+what))
}

// buildServer builds the example from the module that the current directory is in.
func buildServer(ctx context.Context, e *term.Env, out string) error {
	done := e.Progress("building the example server, which the first time takes a while")
	defer done()
	cmd := exec.CommandContext(ctx, "go", "build", "-o", out, demoProgram)
	text, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return term.WithHint(errors.New("the demo builds its example, and there is no go command"), "install Go from https://go.dev/dl")
	case err != nil:
		return term.WithHint(fmt.Errorf("building the example server: %w\n%s", err, bytes.TrimSpace(text)),
			"run the demo in a clone of waymark, or in a module that requires %s", modulePath)
	}
	return nil
}

func listMarkers(ctx context.Context, e *term.Env, server string) error {
	markers, err := tracer.Find(ctx, tracer.Path(server))
	if err != nil {
		if errors.Is(err, tracer.ErrNotSupported) {
			return nil
		}
		return err
	}
	step(e, "waymark list server", "perf list, bpftrace -l and gdb's info probes show them too")
	return e.WithOutput("", func(out *term.Output) error {
		return (&view.ListTable{Out: out, Width: out.Width()}).Print([]view.Group{{Markers: markers}})
	})
}

// byEngine runs the server under its load with an engine attached.
func byEngine(ctx context.Context, e *term.Env, server string, engine tracer.Engine) error {
	var stdout bytes.Buffer // to be read when the server has ended
	c, err := tracer.Start(context.WithoutCancel(ctx), append([]string{server}, load...), &tracer.StartOptions{
		Stdout: &stdout, Stderr: e.Lend().Stderr, Engine: engine,
	})
	if err != nil {
		return err
	}
	exited := make(chan error, 1)
	go func() { exited <- c.Wait() }()
	ended := false
	defer func() {
		if !ended {
			c.Signal(os.Kill)
			<-exited
		}
	}()
	target := c.Target()
	markers, err := tracer.Find(ctx, target)
	if err != nil {
		return err
	}
	counter, err := tracer.Count(target, markers, nil)
	if err != nil {
		return err
	}
	defer counter.Close()
	begin, err := tracer.Select(markers, pair[:1])
	if err != nil {
		return err
	}
	end, err := tracer.Select(markers, pair[1:])
	if err != nil {
		return err
	}
	pairs, err := tracer.Latency(target, begin, end, nil)
	if err != nil {
		return err
	}
	defer pairs.Close()
	if err := c.Resume(); err != nil {
		return err
	}

	step(e, "waymark stat -p "+fmt.Sprint(c.PID()), "live; the server sends itself requests")
	v, err := newCounts(e)
	if err != nil {
		return err
	}
	defer v.out.Close()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for !ended {
		select {
		case <-ctx.Done():
			return errors.Join(v.clear(), ctx.Err())
		case err := <-exited:
			ended = true
			if err != nil {
				return fmt.Errorf("the example server: %w", err)
			}
		case <-tick.C:
		}
		counts, err := counter.Read()
		if err != nil {
			return err
		}
		if err := v.draw(counts, ended); err != nil {
			return err
		}
	}
	latencies, err := pairs.Read()
	if err != nil {
		return err
	}
	step(e, "waymark latency -p "+fmt.Sprint(c.PID())+" "+strings.Join(pair, " "), "joined by goroutine")
	if err := v.latencies(latencies); err != nil {
		return err
	}
	return v.verdict(stdout.Bytes(), "the "+engine.String())
}

// pair is what a request begins and ends with.
var pair = []string{"http:request_start", "http:request_end"}

// inProcess runs the server with probes of its own, which print what they see.
func inProcess(ctx context.Context, e *term.Env, server string) error {
	step(e, "./server -watch 500ms", "functions that the server connects to its own markers")
	cmd := exec.CommandContext(ctx, server, append([]string{"-watch", "500ms"}, load...)...)
	v, err := newCounts(e)
	if err != nil {
		return err
	}
	defer v.out.Close()
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
			v.add(name, s.Seen[name])
		}
		for _, d := range s.Latencies {
			latencies.Add(d)
			latencies.Begins++
			latencies.Ends++
		}
		_ = v.draw(v.seen, false) // a terminal that is gone is found at the end
	}}
	cmd.Stdout, cmd.Stderr = lines, e.Lend().Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the example server: %w", err)
	}
	if err := v.draw(v.seen, true); err != nil {
		return err
	}
	term.Linef(e.Stdout, "")
	if err := v.latencies(&latencies); err != nil {
		return err
	}
	return v.verdict(lines.all.Bytes(), "the probes")
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
