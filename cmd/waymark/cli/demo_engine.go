package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/tracer"
)

// demoEngine runs the server under its load with an engine attached.
func (e *Env) demoEngine(ctx context.Context, server string, engine tracer.Engine) error {
	var stdout lockedBuffer
	c, err := tracer.Start(context.WithoutCancel(ctx), append([]string{server}, demoLoad...), &tracer.StartOptions{
		Stdout: &stdout, Stderr: e.Stderr, Engine: engine,
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
	begin, err := tracer.Select(markers, demoPair[:1])
	if err != nil {
		return err
	}
	end, err := tracer.Select(markers, demoPair[1:])
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

	e.step("waymark stat -p "+fmt.Sprint(c.PID()), "live; the server sends itself requests")
	view, err := newDemoView(e, markers)
	if err != nil {
		return err
	}
	defer view.out.Close()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for !ended {
		select {
		case <-ctx.Done():
			return errors.Join(view.clear(), ctx.Err())
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
		for _, n := range counts {
			view.set(n.Marker, n.Count)
		}
		if err := view.draw(ended); err != nil {
			return err
		}
	}
	latencies, err := pairs.Read()
	if err != nil {
		return err
	}
	e.step("waymark latency -p "+fmt.Sprint(c.PID())+" "+strings.Join(demoPair, " "), "joined by goroutine")
	if err := view.latencies(latencies); err != nil {
		return err
	}
	return view.verdict(stdout.Bytes(), "the "+engine.String())
}

// demoPair is what a request begins and ends with.
var demoPair = []string{"http:request_start", "http:request_end"}

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
