package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/peer"
)

// tempestCycles is how often the tracers attach and detach; WAYMARK_TEMPEST_CYCLES=1000 is for
// long runs.
const tempestCycles = 80

// Two tracers attach to and detach from processes that come, change and go, and one of the two
// is killed again and again: what stays behind in the survivors, and for those that start
// later, is nothing.
func TestTempest(t *testing.T) {
	tempest(t)
}

// tempest runs it with tracers that have these flags besides.
func tempest(t *testing.T, flags ...string) {
	peer.Root(t)
	cycles := tempestCycles
	if s := os.Getenv("WAYMARK_TEMPEST_CYCLES"); s != "" {
		var err error
		if cycles, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	waymark(t) // built before anything is timed
	r := startRestless(t)
	var ended, killed, refused int
	var tracers sync.WaitGroup
	tracers.Go(func() {
		for range (cycles + 1) / 2 {
			if out, err := r.trace(t, flags, func(*exec.Cmd) {}); err == nil {
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
			r.trace(t, flags, func(cmd *exec.Cmd) {
				time.Sleep(upTo(100 * time.Millisecond))
				cmd.Process.Kill()
			})
			killed++
		}
	})
	tracers.Wait()

	survivors := r.settle(t)
	if survivors < restlessProcesses/2 {
		t.Errorf("%d processes are left", survivors)
	}
	clean := func() bool {
		_, _, raised, probed := r.look(t)
		return raised == 0 && probed == 0
	}
	eventually(t, "every counter and every instruction is as it was", clean)
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
	processes, mapped, raised, probed := r.look(t)
	t.Logf("%d cycles ended, %d were killed, %d came too late; %d processes died, %d are left, with %d mappings: %d counters raised, %d sites probed",
		ended, killed, refused, r.died.Load(), processes, mapped, raised, probed)
	if raised+probed > 0 {
		t.Errorf("%d counters are raised and %d sites probed", raised, probed)
	}
}

func upTo(d time.Duration) time.Duration { return time.Duration(rand.Int64N(int64(d))) }

// trace runs one tracer on something of the processes', and does to it what then says.
func (r *restless) trace(t *testing.T, flags []string, then func(*exec.Cmd)) ([]byte, error) {
	verb := []string{"stat", "trace"}[rand.IntN(2)]
	args := append([]string{verb, "-o", os.DevNull, "-d", upTo(50 * time.Millisecond).String()}, flags...)
	switch rand.IntN(4) {
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
