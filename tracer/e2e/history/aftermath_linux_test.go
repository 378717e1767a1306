package history

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/sdt"
)

// leftovers returns how the memory of a process differs from its file: reference counters that are raised, and code. It
// returns nothing for a process that does not map the file, or is gone.
func leftovers(pid int, path string, image []byte, sites []sdt.Site) (left []string) {
	maps, err := procfs.Maps(pid)
	if err != nil {
		return nil
	}
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return nil
	}
	defer memory.Close()
	for i := range maps {
		m := &maps[i]
		if m.Path != path {
			continue
		}
		if m.Executable && m.Offset < uint64(len(image)) {
			want := image[m.Offset:min(m.Offset+m.End-m.Start, uint64(len(image)))]
			got := make([]byte, len(want))
			if _, err := memory.ReadAt(got, int64(m.Start)); err != nil {
				return nil // it has ended
			}
			if at := firstDifference(got, want); at >= 0 {
				until := min(at+16, len(got))
				left = append(left, fmt.Sprintf("process %d has % x at offset %#x, its file % x", pid, got[at:until], m.Offset+uint64(at), want[at:until]))
			}
		}
		for j := range sites {
			at := uint64(sites[j].CounterOffset)
			if at == 0 || !m.Writable || at < m.Offset || at-m.Offset >= m.End-m.Start {
				continue
			}
			var b [2]byte
			if _, err := memory.ReadAt(b[:], int64(m.Start+at-m.Offset)); err != nil {
				return nil
			}
			if n := binary.NativeEndian.Uint16(b[:]); n != 0 {
				left = append(left, fmt.Sprintf("process %d: the counter of %s is %d", pid, sites[j].Name, n))
			}
		}
	}
	return left
}

func firstDifference(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// settled waits until nothing is left of any tracer in any process with the program, and returns what is left all the same.
func (r *run) settled() (left []string) {
	path := r.program.path
	image, err := os.ReadFile(path)
	if err != nil {
		return []string{err.Error()}
	}
	var sites []sdt.Site
	if r.plan.form != goUnlinked {
		f, err := sdt.Open(path)
		if err != nil {
			return []string{err.Error()}
		}
		sites = f.Sites
	}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		left = nil
		pids, err := procfs.PIDs()
		if err != nil {
			return []string{err.Error()}
		}
		for _, pid := range pids {
			left = append(left, leftovers(pid, path, image, sites)...)
		}
		if r.plan.form.isGo() && alive(r.program.pid()) && r.program.get(wordArmed) != 0 {
			left = append(left, "a marker is armed")
		}
		// The kernel detaches for guards that were killed; of what it leaked nothing changes.
		if len(left) == 0 || time.Now().After(end) || r.leaky() && time.Until(end) < patience-5*time.Second {
			return left
		}
	}
}

// leaky reports whether a strike was one after which the kernel may leak counters: docs/architecture.md, "Who holds the probes".
func (r *run) leaky() bool {
	for _, s := range r.all {
		if s.was(killGuard) || r.plan.memory != 0 {
			return true
		}
	}
	return false
}

// repair has waymark doctor put back what the kernel leaked.
func (r *run) repair(pid int) error {
	out, err := exec.Command(r.waymark, "doctor", "-p", fmt.Sprint(pid), "--repair", "--yes").CombinedOutput()
	r.t.Logf("doctor: %s", out)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil // it still has something to say; the memory shows what
	}
	return err
}

// awaitGuard waits until the guard of a tracer that has ended has ended, too.
func (r *run) awaitGuard(s *tracing) {
	for end := time.Now().Add(patience); s.guard() != 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			r.violation("%s: its guard, process %d, has not ended", s.describe(), s.guard())
			return
		}
	}
}

// checkFresh starts the program after all: the kernel puts uprobes that it still knows into whatever maps the file.
func (r *run) checkFresh() {
	p := newProgram(r.t, r.dir+"/fresh", r.program.path, r.plan)
	p.set(wordGate, 1)
	p.set(wordForks, 0)
	if err := p.start(nil, r.env); err != nil {
		r.violation("starting the program again: %v", err)
		return
	}
	if !p.running() {
		r.violation("the program, started again, did not begin:\n%s", &p.stderr)
		return
	}
	if left := r.settled(); len(left) > 0 {
		r.violation("in a new process: %s", strings.Join(left, "\n"))
	}
	p.set(wordOver, 1)
	p.set(wordCalm, 0)
	p.set(wordGate, 0)
	<-p.done
}
