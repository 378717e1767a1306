package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// perfStat is a running perf stat.
type perfStat struct {
	cmd *exec.Cmd
	out lockedBuffer
}

// statPerf starts one, and returns once it counts: it says something at intervals then.
func statPerf(t *testing.T, pid int, events ...string) *perfStat {
	t.Helper()
	s := &perfStat{cmd: exec.Command("perf", "stat", "-I", "50", "-x,", "-e", strings.Join(events, ","), "-p", fmt.Sprint(pid))}
	s.cmd.Stderr = &s.out
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill(); s.cmd.Wait() })
	eventually(t, "perf stat counts", func() bool {
		return strings.Contains(s.out.String(), ",,"+events[len(events)-1]+",")
	})
	return s
}

// stop ends it and returns what it counted.
func (s *perfStat) stop() map[string]int {
	s.cmd.Process.Signal(os.Interrupt)
	s.cmd.Wait() // its status is that of the signal
	counts := make(map[string]int)
	for _, m := range regexp.MustCompile(`(?m)^ *[\d.]+,(\d+),,([^,]+),`).FindAllStringSubmatch(s.out.String(), -1) {
		n, _ := strconv.Atoi(m[1])
		counts[m[2]] += n
	}
	return counts
}
