package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/tracer"
)

// attachRounds is few, because bpftrace takes its time.
const attachRounds = 3

// crowded are files with many sites.
var crowded = []struct{ name, path, provider string }{
	{"libjvm", "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so", "hotspot"},
	{"PostgreSQL", "/usr/lib/postgresql/15/bin/postgres", "postgresql"},
}

// attaching measures how long it takes to attach to all sites of a file and to let go of them
// again: a copy of it, which nobody runs.
func attaching(c config) ([]result, error) {
	if os.Geteuid() != 0 {
		return []result{skipped("all", "needs root")}, nil
	}
	dir, err := os.MkdirTemp("", "waymark-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var results []result
	for _, file := range crowded {
		image, err := os.ReadFile(file.path)
		if err != nil {
			results = append(results, skipped(file.name, "%v", err))
			continue
		}
		path := filepath.Join(dir, file.name)
		if err := os.WriteFile(path, image, 0o755); err != nil {
			return nil, err
		}
		target := tracer.Path(path)
		markers, err := tracer.Find(context.Background(), target)
		if err != nil {
			return nil, err
		}
		sites := 0
		for _, m := range markers {
			sites += len(m.Sites)
		}
		name := fmt.Sprintf("%s, %d sites", file.name, sites)
		results = append(results, compareAttaching(c, name, []attacher{
			{"waymark", func() (attach, detach time.Duration, err error) { return byWaymark(target, markers) }},
			{"bpftrace", func() (attach, detach time.Duration, err error) { return byBpftrace(path, file.provider) }},
		})...)
	}
	return results, nil
}

type attacher struct {
	tool string
	once func() (attach, detach time.Duration, err error)
}

// compareAttaching compares all with the first, in rounds.
func compareAttaching(c config, name string, tools []attacher) (results []result) {
	var times [2]map[string][]float64
	failed := make(map[string]error)
	times[0], times[1] = make(map[string][]float64), make(map[string][]float64)
	for round := range c.roundsOr(attachRounds) {
		fmt.Fprintf(c.log, "attach: %s: round %d\n", name, round+1)
		for _, tool := range tools {
			if failed[tool.tool] != nil {
				continue
			}
			attach, detach, err := tool.once()
			failed[tool.tool] = err
			for i, took := range []time.Duration{attach, detach} {
				times[i][tool.tool] = append(times[i][tool.tool], float64(took.Nanoseconds()))
			}
		}
	}
	for i, what := range []string{"attach", "detach"} {
		label := func(tool string) string { return fmt.Sprintf("%s: %s, %s", name, what, tool) }
		base := tools[0].tool
		for _, tool := range tools {
			if err := failed[tool.tool]; err != nil {
				results = append(results, skipped(label(tool.tool), "%v", err))
				continue
			}
			to := ""
			if tool.tool != base && failed[base] == nil {
				to = label(base)
			}
			results = append(results, figure(label(tool.tool), median(times[i][tool.tool]), to, median(times[i][base])))
		}
	}
	return results
}

func byWaymark(target tracer.Target, markers []*tracer.Marker) (attach, detach time.Duration, err error) {
	start := time.Now()
	counter, err := tracer.Count(target, markers, nil)
	if err != nil {
		return 0, 0, err
	}
	attach, start = time.Since(start), time.Now()
	err = counter.Close()
	return attach, time.Since(start), err
}

// byBpftrace takes what bpftrace prints, which it does once everything is attached.
func byBpftrace(path, provider string) (attach, detach time.Duration, err error) {
	cmd := exec.Command("bpftrace", "-B", "line", "-e",
		fmt.Sprintf(`usdt:%s:%s:* { @ = count() } interval:ms:10 { printf("alive\n") }`, path, provider))
	cmd.Env = append(os.Environ(), "BPFTRACE_MAX_PROBES=2000")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	alive := false
	for s := bufio.NewScanner(out); s.Scan(); {
		if !alive && strings.Contains(s.Text(), "alive") {
			alive = true
			attach, start = time.Since(start), time.Now()
			cmd.Process.Signal(os.Interrupt)
		}
	}
	err = cmd.Wait()
	if err == nil && !alive {
		err = fmt.Errorf("bpftrace did not attach")
	}
	return attach, time.Since(start), err
}
