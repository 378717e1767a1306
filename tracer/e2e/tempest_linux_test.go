package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// tempestCycles is how often the tracers attach and detach; WAYMARK_TEMPEST_CYCLES=1000 is for
// long runs.
const tempestCycles = 80

// Two tracers attach to and detach from processes that come, change and go, and one of the two
// is killed again and again: what stays behind in the survivors, and for those that start
// later, is nothing.
func TestTempest(t *testing.T) {
	peer.Root(t)
	cycles := fromEnv(t, "WAYMARK_TEMPEST_CYCLES", tempestCycles)
	waymark(t) // built before anything is timed
	r := startRestless(t)
	var ended, killed, refused int
	var tracers sync.WaitGroup
	tracers.Go(func() {
		for range (cycles + 1) / 2 {
			if out, err := r.trace(t, func(*exec.Cmd) {}); err == nil {
				ended++
			} else if strings.Contains(string(out), "no such process") || strings.Contains(string(out), "no markers") {
				refused++ // it died before it was attached to
			} else {
				t.Errorf("%v\n%s", err, out)
			}
		}
	})
	tracers.Go(func() {
		for range cycles / 2 {
			r.trace(t, func(cmd *exec.Cmd) {
				time.Sleep(r.upTo(100 * time.Millisecond))
				cmd.Process.Kill()
			})
			killed++
		}
	})
	tracers.Wait()

	survivors := r.settle(t)
	if survivors < len(r.pids)/2 {
		t.Errorf("%d processes are left", survivors)
	}
	_, _, raised, probed := r.look(t)
	t.Logf("%d counters raised and %d sites probed when the tracers have ended; their guards took %v", raised, probed, awaitGuards(t))
	// A guard detaches by ending, and has no name any more while it does.
	eventually(t, "counters are 0 and sites unprobed when the guards have ended", func() bool {
		_, _, raised, probed = r.look(t)
		return raised+probed == 0
	})
	// The kernel puts uprobes that it still knows of into whatever maps the file.
	fresh := exec.Command(r.files[0].path, r.files[1].path, "1", "-1")
	if err := fresh.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { fresh.Process.Kill(); fresh.Wait() }()
	late := exec.Command("env", "LD_PRELOAD="+r.files[1].path, "sleep", "60")
	if err := late.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { late.Process.Kill(); late.Wait() }()
	eventually(t, "processes that start now map both files", func() bool {
		_, mapped, _, _ := r.look(t)
		return mapped >= survivors+2
	})
	var processes, mapped int
	processes, mapped, raised, probed = r.look(t)
	t.Logf("%d cycles ended, %d were killed, %d came too late; %d processes died, %d are left, with %d mappings: %d counters raised, %d sites probed",
		ended, killed, refused, r.died.Load(), processes, mapped, raised, probed)
	if raised+probed > 0 {
		t.Errorf("%d counters are raised and %d sites probed", raised, probed)
	}
}

// fromEnv returns a number that a variable may change.
func fromEnv(t *testing.T, variable string, number int) int {
	t.Helper()
	if s := os.Getenv(variable); s != "" {
		var err error
		if number, err = strconv.Atoi(s); err != nil || number <= 0 {
			t.Fatalf("%s=%s is no number of anything", variable, s)
		}
	}
	return number
}

// awaitGuards waits until the guards of tracers that were killed have detached, and returns how long
// that was. The kernel lets them wait: registering and unregistering a uprobe excludes every fork of the machine
// (dup_mmap_sem, kernel/events/uprobes.c). What is raised meanwhile is not left behind.
func awaitGuards(t *testing.T) time.Duration {
	t.Helper()
	begun := time.Now()
	for time.Since(begun) < 10*time.Minute {
		pids, err := procfs.PIDs()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(pids, isGuard) {
			return time.Since(begun)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("a guard has not ended in 10 minutes")
	return time.Since(begun)
}

// isGuard reports whether a process is a guard of the waymark that the tests have built.
func isGuard(pid int) bool {
	comm, err := procfs.Comm(pid)
	exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && comm == "waymark-guard" && exe == built.path
}

func (r *restless) upTo(d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }

// trace runs one tracer on something of the processes', and does to it what then says.
func (r *restless) trace(t *testing.T, then func(*exec.Cmd)) ([]byte, error) {
	verb := []string{"stat", "trace"}[r.IntN(2)]
	args := []string{verb, "-o", os.DevNull, "-d", r.upTo(50 * time.Millisecond).String()}
	switch r.IntN(4) {
	case 0:
		args = append(args, "-p", fmt.Sprint(r.any()))
	case 1:
		args = append(args, r.files[1].path)
	default:
		args = append(args, r.files[0].path)
	}
	cmd := exec.Command(waymark(t), args...)
	var out lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	then(cmd)
	err := cmd.Wait()
	return []byte(out.String()), err
}
