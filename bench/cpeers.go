package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A cForm is one way in which C programs declare static markers.
type cForm struct {
	kind  string
	flags []string
	reads bool // a word in memory, while off
}

var cForms = []cForm{
	{"C, sdt.h nop", []string{"-DNOP", "bench/c/peers.c"}, false},
	{"C, sdt.h semaphore", []string{"-DSEMAPHORE", "bench/c/peers.c"}, true},
	{"C, LTTng-UST", []string{"-DUST", "-Ibench/c", "bench/c/peers.c", "bench/c/ust.c", "-llttng-ust", "-ldl"}, true},
}

// start builds and starts the loops of bench/c with markers of this form.
func (f *cForm) start(dir string) (*subject, error) {
	path := filepath.Join(dir, "c"+f.flags[0])
	if err := command("gcc", append([]string{"-O2", "-o", path}, f.flags...)...); err != nil {
		return nil, err
	}
	t, err := startTarget(path, pinned(0, path))
	if err != nil {
		return nil, err
	}
	return newSubject(f.kind, t)
}

// cPeers returns loops of C programs for those of the table, as many as can be built here, and why the
// others cannot. The processes end with done.
func cPeers(dir string) (loops []*loop, missing []result, done func()) {
	var started []*subject
	for _, f := range cForms {
		s, err := f.start(dir)
		if err != nil {
			missing = append(missing, skipped("empty loop, 1 marker, "+f.kind, "%v", firstLine(err)))
			continue
		}
		started = append(started, s)
		for _, d := range disabledLoops {
			if d.goOnly || d.cold && !f.reads {
				continue
			}
			// Each is compared with its own process: where buffers lie differs between them.
			l := &loop{name: d.name + ", " + f.kind, in: s, loop: d.loop, slow: d.cold}
			if !d.plain {
				l.to = d.to + ", " + f.kind
				l.over = l.to
			}
			loops = append(loops, l)
		}
	}
	return loops, missing, func() {
		for _, s := range started {
			s.target.stop()
		}
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// recordUST has LTTng record the events of bench/c in its ring buffers, where new ones replace old ones.
func recordUST(dir string) (undo func(), err error) {
	stop, err := startSessionDaemon()
	if err != nil {
		return nil, err
	}
	session := "waymark-bench-" + strconv.Itoa(os.Getpid())
	undo = func() {
		_ = command("lttng", "destroy", session)
		stop()
	}
	err = command("lttng", "create", "--snapshot", "--output="+filepath.Join(dir, "lttng"), session)
	if err == nil {
		err = command("lttng", "enable-event", "--userspace", "--session="+session, "bench:*")
	}
	if err == nil {
		err = command("lttng", "start", session)
	}
	if err != nil {
		undo()
		return nil, err
	}
	return undo, nil
}

const sessionDaemon = "/var/run/lttng/lttng-sessiond.pid"

// startSessionDaemon starts LTTng's daemon, unless there is one, which it leaves alone.
func startSessionDaemon() (stop func(), err error) {
	if p, err := daemon(); err == nil {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", p.Pid)); err == nil {
			return func() {}, nil
		}
	}
	if _, err := exec.LookPath("lttng-sessiond"); err != nil {
		return nil, err
	}
	if err := command("lttng-sessiond", "--daemonize", "--no-kernel"); err != nil {
		return nil, err
	}
	p, err := daemon()
	if err != nil {
		return nil, fmt.Errorf("LTTng's session daemon: %w", err)
	}
	return func() { _ = p.Signal(syscall.SIGTERM) }, nil
}

func daemon() (*os.Process, error) {
	text, err := os.ReadFile(sessionDaemon)
	if err != nil {
		return nil, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		return nil, errors.New(sessionDaemon + " names no process")
	}
	return os.FindProcess(pid)
}
