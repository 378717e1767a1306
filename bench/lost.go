package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strconv"
)

// paced is how many passes there are, at the target's own pace.
const paced = 1_000_000

// lost measures how many events do not arrive: each tool writes them as text into a file.
func lost(c config) ([]result, error) { return underTools(c, measureLost) }

func measureLost(_ config, t *target, tools []*tool) (results []result, err error) {
	for _, tool := range tools {
		if tool.failed = tool.prepare(); tool.failed == nil {
			defer tool.cleanUp()
		}
	}
	for _, tool := range tools {
		if tool.name != "waymark trace" && tool.name != "perf record" && tool.name != "bpftrace printf()" {
			continue
		}
		got, err := tool.lose(t)
		var broken *targetError
		if errors.As(err, &broken) {
			return nil, err
		}
		if err != nil {
			results = append(results, skipped(tool.name, "%v", err))
			continue
		}
		results = append(results, result{Case: tool.name, Value: round(float64(paced - got.distinct)), Unit: "lost"})
		if got.surplus > 0 { // perf does, now and then: its losses must not hide behind them
			results = append(results, result{Case: tool.name + ", events too many", Value: round(float64(got.surplus)), Unit: "events"})
		}
	}
	return results, nil
}

// arrivals is what of the target's events a tool has in its output.
type arrivals struct {
	distinct int // passes that are in it
	surplus  int // events of passes that were in it before
}

// lose has the target pass its marker at its own pace and returns what the tool saw of that.
func (tool *tool) lose(t *target) (got arrivals, err error) {
	if tool.failed != nil {
		return got, tool.failed
	}
	out, err := os.CreateTemp("", "waymark-bench")
	if err != nil {
		return got, err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	err = tool.watching(t, out, func() error {
		_, err := t.pass("pace", paced)
		return err
	})
	if err != nil {
		return got, err
	}
	text, err := os.ReadFile(out.Name())
	if tool.argv[0] == "perf" { // which writes what it recorded into a file of its own
		text, err = exec.Command("perf", "script", "-i", tool.argv[4], "-F", "event,trace").Output()
	}
	if err != nil {
		return got, err
	}
	return passes(text), nil
}

// event is a line of any of the tools: the number of a pass, and after it a value that is 0.
var event = regexp.MustCompile(`(?:\b(?:n|arg1)=|^)(\d+) (?:(?:at|arg2)=)?(?:0x)?0\s*$`)

// passes reads a tool's output; every pass has a number.
func passes(text []byte) (got arrivals) {
	seen := make([]bool, paced)
	for line := range bytes.Lines(text) {
		m := event.FindSubmatch(line)
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(string(m[1]))
		switch {
		case err != nil || n >= paced || seen[n]:
			got.surplus++
		default:
			seen[n] = true
			got.distinct++
		}
	}
	return got
}
