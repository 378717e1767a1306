package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/internal/test/talk"
	"github.com/waymark-trace/waymark/sdt"
)

// held is allkinds, which marks when told to and then stays.
type held struct {
	*talk.Program
	passes int
}

func hold(t *testing.T, path string, passes int) *held {
	t.Helper()
	h := &held{talk.Start(t, exec.Command(path, "-hold", "-n", fmt.Sprint(passes))), passes}
	h.Expect("ready")
	return h
}

// mark lets it mark, and returns when it has.
func (h *held) mark() {
	h.Tell("")
	h.Expect(fmt.Sprintf("marked %d", h.passes))
}

// Two tracers at once both count every hit, and the first to leave does not disarm the other.
func TestTwoTracersAtOnce(t *testing.T) {
	peer.Root(t)
	peer.Need(t, "bpftrace")
	const n = 100_000
	path := allkinds(t, gobuild.Config{})

	t.Run("waymark twice", func(t *testing.T) {
		h := hold(t, path, n)
		pid := fmt.Sprint(h.PID())
		stays := watch(t, "-p", pid, "kinds:signed")
		leaves := watch(t, "-p", pid, "kinds:*")
		leaves.stop()
		both := watch(t, path, "kinds:signed")
		h.mark()
		for who, w := range map[string]*watcher{"the first": stays, "the second": both} {
			if got := w.stop()["kinds:signed"]; got != n {
				t.Errorf("%s counted %d of %d", who, got, n)
			}
		}
	})

	for _, order := range []string{"bpftrace leaves first", "waymark leaves first", "both stay"} {
		t.Run(order, func(t *testing.T) {
			h := hold(t, path, n)
			pid := h.PID()
			b := startBpftrace(t, pid, path)
			eventually(t, "bpftrace is attached", func() bool { return strings.Contains(b.out.String(), "alive") })
			if counter(t, pid, path, "signed") == 0 {
				t.Error("bpftrace is attached and the counter not raised")
			}
			w := watch(t, "-p", fmt.Sprint(pid), "kinds:signed")
			switch order {
			case "bpftrace leaves first":
				b.stop(t)
			case "waymark leaves first":
				w.stop()
			}
			h.mark()
			if !w.done {
				if got := w.stop()["kinds:signed"]; got != n {
					t.Errorf("waymark counted %d of %d", got, n)
				}
			}
			if !b.done {
				if got := b.stop(t); got != fmt.Sprint(n) {
					t.Errorf("bpftrace counted %s of %d", got, n)
				}
			}
			eventually(t, "counter is 0", func() bool { return counter(t, pid, path, "signed") == 0 })
		})
	}
}

// counter returns the reference counter of a marker in a process.
func counter(t *testing.T, pid int, path, name string) uint16 {
	t.Helper()
	f, err := sdt.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	maps, err := procfs.Maps(pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Sites {
		if s.Name != name {
			continue
		}
		for _, m := range maps {
			if m.Path != path {
				continue
			}
			if at, ok := procfs.Address(maps, m.File(), uint64(s.CounterOffset)); ok {
				n, err := procfs.ReadCounter(pid, at)
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
		}
	}
	t.Fatalf("no counter of %s in process %d", name, pid)
	return 0
}

// bpftrace counts kinds:signed in a process.
type bpftrace struct {
	cmd  *exec.Cmd
	out  lockedBuffer
	done bool
}

// lockedBuffer is a bytes.Buffer that a process writes to while a test looks at it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func startBpftrace(t *testing.T, pid int, path string) *bpftrace {
	t.Helper()
	return runBpftrace(t, pid, `usdt:`+path+`:kinds:signed { @n = count() }`)
}

// runBpftrace starts one that prints "alive" once it has attached everything.
func runBpftrace(t *testing.T, pid int, script string) *bpftrace {
	t.Helper()
	args := []string{"-B", "line", "-e", script + ` interval:ms:50 { printf("alive\n") }`}
	if pid != 0 {
		args = append(args, "-p", fmt.Sprint(pid))
	}
	// What it prints it prints after it attached everything.
	b := &bpftrace{cmd: exec.Command("bpftrace", args...)}
	b.cmd.Stdout, b.cmd.Stderr = &b.out, &b.out
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !b.done {
			b.stop(t)
		}
	})
	return b
}

// stop ends it and returns what it counted.
func (b *bpftrace) stop(t *testing.T) string {
	t.Helper()
	b.done = true
	exited := make(chan error, 1)
	go func() { exited <- b.cmd.Wait() }()
	for try := 0; ; try++ {
		if try == 60 {
			b.cmd.Process.Kill()
			t.Errorf("bpftrace did not end: %v", <-exited)
			break
		}
		// More than once: bpftrace 0.17 forgets an interrupt that comes while it attaches.
		b.cmd.Process.Signal(os.Interrupt)
		select {
		case err := <-exited:
			if err != nil {
				t.Errorf("bpftrace: %v", err)
			}
		case <-time.After(2 * time.Second):
			continue
		}
		break
	}
	if m := regexp.MustCompile(`@n:\s*(\d+)`).FindStringSubmatch(b.out.String()); m != nil {
		return m[1]
	}
	return b.out.String()
}
