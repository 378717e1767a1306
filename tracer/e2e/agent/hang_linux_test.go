package agent_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/shm/rundir"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/internal/test/talk"
	"github.com/waymark-trace/waymark/tracer/client"
)

// box starts a target with one recording.
func box(t *testing.T) *program {
	t.Helper()
	p := run(t, nil)
	p.ask("look")
	a := dial(t, p)
	_, err := a.StartSession(&client.SessionOptions{Name: "box", Flight: true, Size: 256 << 10})
	must(t, err)
	must(t, a.Close())
	return p
}

// boxes returns how many recordings of a process there are.
func boxes(all []client.Session, p *program) (n int) {
	for i := range all {
		if all[i].PID == p.PID() {
			n++
		}
	}
	return n
}

// Agents that accept and never answer delay a list of all recordings once, not each.
func TestHangingAgents(t *testing.T) {
	runtimeDir(t)
	p := box(t)
	const hanging = 3
	for range hanging {
		liar := exec.Command(os.Args[0])
		liar.Env = append(os.Environ(), "WAYMARK_TEST_ROLE=liar", "WAYMARK_TEST_LIE=hang")
		talk.Start(t, liar).Expect("ready")
	}
	began := time.Now()
	all, err := client.Sessions()
	if took := time.Since(began); took > 9*time.Second {
		t.Errorf("%v for a list of recordings", took)
	}
	if n := boxes(all, p); n != 1 {
		t.Errorf("%d recordings of the program that answers", n)
	}
	if err == nil || strings.Count(err.Error(), "connecting to the agent of process") != hanging {
		t.Errorf("error %v, want one for each of %d agents", err, hanging)
	}
}

// A directory that is named after another user's process, or after one that there never was, is ignored.
func TestForgedDirectories(t *testing.T) {
	peer.Root(t)
	runtimeDir(t)
	p := box(t)
	o, err := rundir.OwnerOf(p.PID())
	must(t, err)
	theirs := fmt.Sprintf("/dev/shm/waymark-%d", stranger)
	must(t, os.Mkdir(theirs, 0o700))
	t.Cleanup(func() { os.RemoveAll(theirs) })
	must(t, os.Chown(theirs, stranger, stranger))
	for _, forged := range []string{o.String(), fmt.Sprintf("%d-%d", o.PID, o.Start+1)} {
		path := theirs + "/" + forged
		must(t, os.Mkdir(path, 0o700))
		must(t, os.Chown(path, stranger, stranger))
		lock, err := os.Open(path)
		must(t, err)
		defer lock.Close()
		must(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_SH))
	}
	all, err := client.Sessions()
	if n := boxes(all, p); n != 1 || err != nil {
		t.Errorf("%d recordings, %v; want 1", n, err)
	}
}
