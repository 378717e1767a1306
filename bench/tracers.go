package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

const (
	tracerRounds = 5
	marksPerHit  = 100_000                // in one round under one tool
	settling     = 200 * time.Millisecond // tools go on opening files after the marker is armed
	markerName   = "bench:hit"
)

// tracers measures passes of one marker in one process under one tool after the other.
func tracers(c config) ([]result, error) { return underTools(c, measureTracers) }

// underTools builds and starts a target, and has something measured of it and the tools.
func underTools(c config, measure func(config, *target, []*tool) ([]result, error)) ([]result, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return []result{skipped("all", "SDT markers of Go programs are for linux/amd64, this is %s/%s", runtime.GOOS, runtime.GOARCH)}, nil
	}
	if os.Geteuid() != 0 {
		return []result{skipped("all", "needs root")}, nil
	}
	dir, err := os.MkdirTemp("", "waymark-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)

	waymark, path := filepath.Join(dir, "waymark"), filepath.Join(dir, "target")
	for _, args := range [][]string{
		{"go", "build", "-o", waymark, "./cmd/waymark"},
		{"go", "build", "-o", path, "./bench/target"},
		{waymark, "link", path},
	} {
		if text, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%v: %w\n%s", args, err, text)
		}
	}
	t, err := startTarget(path, pinned(0, path))
	if err != nil {
		return nil, err
	}
	defer t.stop()
	return measure(c, t, tools(dir, waymark, t))
}

// measureTracers runs every tool once a round. A tool that fails is left out from then on,
// and its reason is the result.
func measureTracers(c config, t *target, tools []*tool) ([]result, error) {
	for _, tool := range tools {
		if tool.failed = tool.prepare(); tool.failed == nil {
			defer tool.cleanUp()
		}
	}
	var idle []float64
	rounds := c.roundsOr(tracerRounds)
	for round := range rounds {
		fmt.Fprintf(c.log, "tracers: round %d of %d\n", round+1, rounds)
		ns, err := t.mark(100 * marksPerHit)
		if err != nil {
			return nil, err
		}
		idle = append(idle, ns)
		for _, tool := range tools {
			if tool.failed != nil {
				continue
			}
			ns, err := tool.measure(t)
			var broken *targetError
			if errors.As(err, &broken) {
				return nil, fmt.Errorf("under %s: %w", tool.name, err)
			}
			tool.failed = err
			tool.times = append(tool.times, ns)
		}
	}

	base := tools[0]
	results := []result{figure("nobody", median(idle), "", 0)}
	for _, tool := range tools {
		switch {
		case tool.failed != nil:
			results = append(results, skipped(tool.name, "%v", tool.failed))
		case tool == base || base.failed != nil:
			results = append(results, figure(tool.name, median(tool.times), "", 0))
		default:
			results = append(results, figure(tool.name, median(tool.times), base.name, median(base.times)))
		}
	}
	return results, nil
}

// targetError says that the target is of no more use.
type targetError struct{ err error }

func (e *targetError) Error() string { return e.err.Error() }
func (e *targetError) Unwrap() error { return e.err }

// measure returns the nanoseconds of a pass under the tool.
func (tool *tool) measure(t *target) (ns float64, err error) {
	way := "mark"
	if tool.pairs {
		way = "pair"
	}
	err = tool.watching(t, nil, func() error {
		// The first hits make the kernel optimize the site; they are not the steady state.
		if _, err := t.pass(way, marksPerHit/10); err != nil {
			return err
		}
		ns, err = t.pass(way, marksPerHit)
		return err
	})
	return ns, err
}

// watching attaches the tool, its output in a file if not nil, has the target do something, and detaches it.
func (tool *tool) watching(t *target, out *os.File, do func() error) error {
	process, err := tool.startTo(out)
	if err != nil {
		return err
	}
	defer process.stop()
	if err := await(t, "on"); err != nil {
		return errors.Join(err, process.stop())
	}
	time.Sleep(settling)
	if err := do(); err != nil {
		return &targetError{err}
	}
	if err := process.stop(); err != nil {
		return err
	}
	return await(t, "off")
}

// await waits until the target's marker is on or off.
func await(t *target, state string) error {
	answer, err := t.ask(state)
	if err != nil {
		return &targetError{err}
	}
	if answer != state {
		return fmt.Errorf("the marker was not %s after 20 s", state)
	}
	return nil
}
