package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"time"
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
		n, err := tool.lose(t)
		var broken *targetError
		if errors.As(err, &broken) {
			return nil, err
		}
		if err != nil {
			results = append(results, skipped(tool.name, "%v", err))
			continue
		}
		results = append(results, result{Case: tool.name, Value: round(float64(n)), Unit: "lost"})
	}
	return results, nil
}

// lose returns how many events of the target's the tool has not in its output.
func (tool *tool) lose(t *target) (int, error) {
	if tool.failed != nil {
		return 0, tool.failed
	}
	out, err := os.CreateTemp("", "waymark-bench")
	if err != nil {
		return 0, err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	process, err := tool.startTo(out)
	if err != nil {
		return 0, err
	}
	defer process.stop()
	if err := await(t, "on"); err != nil {
		return 0, errors.Join(err, process.stop())
	}
	time.Sleep(settling)
	if _, err := t.pass("pace", paced); err != nil {
		return 0, &targetError{err}
	}
	if err := process.stop(); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(out.Name())
	if tool.argv[0] == "perf" { // which writes what it recorded into a file of its own
		text, err = exec.Command("perf", "script", "-i", tool.argv[4], "-F", "event,trace").Output()
	}
	if err != nil {
		return 0, err
	}
	// An event has both values in its line, and nothing else has the address 0 as its last.
	arrived := 0
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if bytes.HasSuffix(line, []byte("at=0x0")) || bytes.HasSuffix(line, []byte(" 0")) || bytes.HasSuffix(line, []byte("arg2=0")) || bytes.HasSuffix(line, []byte("arg2=0x0")) {
			arrived++
		}
	}
	return paced - arrived, await(t, "off")
}
