package e2e

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/internal/test/talk"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// numbered builds the program that marks numbers, and gives it and waymark a run-time directory of this test's own.
func numbered(t *testing.T) (path string) {
	t.Helper()
	run := t.TempDir()
	if err := os.Chmod(run, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", run)
	path = filepath.Join(t.TempDir(), "numbered")
	if out, err := exec.Command("go", "build", "-o", path, "./testdata/numbered").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() {
		if left, _ := filepath.Glob(run + "/waymark/*/*.ring"); len(left) > 0 {
			t.Errorf("%q are left", left)
		}
	})
	return path
}

// numberer is that program, which waits to begin.
type numberer struct {
	*talk.Program
}

func startNumbered(t *testing.T, path string, args ...string) *numberer {
	t.Helper()
	n := &numberer{talk.Start(t, exec.Command(path, args...))}
	eventually(t, "an agent", func() bool {
		all, _ := filepath.Glob(fmt.Sprintf("%s/waymark/%d-*.sock", os.Getenv("XDG_RUNTIME_DIR"), n.PID()))
		return len(all) > 0
	})
	return n
}

func (n *numberer) pid() string { return fmt.Sprint(n.PID()) }

// finish lets it go if it still waits, waits for its end, and returns how many it marked.
func (n *numberer) finish(t *testing.T) (marked uint64) {
	t.Helper()
	n.CloseInput()
	n.Scan(new(string), &marked) // "marked N"
	if err := n.Cmd.Wait(); err != nil {
		t.Fatalf("the program: %v", err)
	}
	return marked
}

// account is what a trace says of the program's events.
type account struct{ received, lost, first, last uint64 }

// readNumbers reads a trace: the events of each writer come once and in order.
func readNumbers(t *testing.T, dir string) (a account) {
	t.Helper()
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	next := map[uint64]uint64{}
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		writer, seq := e.Values[0].Bits(), e.Values[1].Bits()
		if seq < next[writer] {
			t.Fatalf("%s: event %d of writer %d, %d was to be next", dir, seq, writer, next[writer])
		}
		next[writer], a.last = seq+1, seq
		if a.received == 0 {
			a.first = seq
		}
		a.received++
	}
	lost, err := r.Losses()
	if err != nil {
		t.Fatal(err)
	}
	a.lost += source.Total(lost)
	return a
}

// What processes of waymark record have received, and say they lost, is what was marked: under overload, with tiny rings, 1000
// goroutines, while garbage is collected, and by two at once, of which one is stopped now and then.
func TestRecordAccounts(t *testing.T) {
	path := numbered(t)
	for _, tt := range []struct {
		name    string
		args    []string
		options [][]string
		stop    bool
	}{
		{"overload", []string{"2", "300000"}, [][]string{{}}, false},
		{"tiny rings", []string{"2", "300000"}, [][]string{{"--buffer", "8K"}}, false},
		{"many goroutines", []string{"1000", "300"}, [][]string{{"--buffer", "64K"}}, false},
		{"garbage", []string{"3", "50000", "gc"}, [][]string{{"--buffer", "64K"}}, false},
		{"two", []string{"2", "300000"}, [][]string{{}, {"--buffer", "16K"}}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			p := startNumbered(t, path, tt.args...)
			var all []*watcher
			for i, options := range tt.options {
				args := append([]string{"--engine", "agent", "-p", p.pid(), "-o", fmt.Sprint(dir, "/", i)}, options...)
				all = append(all, watchBy(t, "record", args...))
			}
			p.Tell("")
			for i := 0; tt.stop && i < 5; i++ {
				all[0].cmd.Process.Signal(syscall.SIGSTOP)
				time.Sleep(5 * time.Millisecond)
				all[0].cmd.Process.Signal(syscall.SIGCONT)
				time.Sleep(time.Millisecond)
			}
			marked := p.finish(t)
			for i, w := range all {
				w.done = true
				if err := w.cmd.Wait(); err != nil {
					t.Fatalf("waymark record: %v\n%s", err, &w.stderr)
				}
				a := readNumbers(t, fmt.Sprint(dir, "/", i))
				if a.received+a.lost != marked || a.received == 0 {
					t.Errorf("%v: %d received + %d lost of %d marked", tt.options[i], a.received, a.lost, marked)
				}
				t.Logf("%v: %d received + %d lost", tt.options[i], a.received, a.lost)
				said := fmt.Sprintf(`"events":%d,"lost":%d,`, a.received, a.lost)
				if !strings.Contains(w.stdout.String(), said) {
					t.Errorf("the summary is %s, the trace has %s", &w.stdout, said)
				}
			}
		})
	}
}

// A recorder that is killed at any moment leaves a trace that can be read, harms neither the program nor another recorder, and the
// next one has every event from where it began.
func TestRecordKilled(t *testing.T) {
	path := numbered(t)
	dir := t.TempDir()
	p := startNumbered(t, path, "1", "0")
	other := watchBy(t, "record", "--engine", "agent", "--buffer", "64K", "--where", "seq < 200000", "-p", p.pid(), "-o", dir+"/other")
	p.Tell("")
	killed, random := 0, peer.Random(t)
	for ; killed < 8; killed++ {
		w := watchBy(t, "record", "--engine", "agent", "-p", p.pid(), "-o", fmt.Sprint(dir, "/", killed))
		time.Sleep(time.Duration(random.Int64N(int64(50 * time.Millisecond))))
		w.kill()
	}
	last := watchBy(t, "record", "--engine", "agent", "--buffer", "1M", "-p", p.pid(), "-o", dir+"/last")
	eventually(t, "events of the last", func() bool {
		all, _ := filepath.Glob(dir + "/last/agent_*")
		return len(all) > 0
	})
	marked := p.finish(t)
	for _, w := range []*watcher{last, other} {
		w.done = true
		if err := w.cmd.Wait(); err != nil {
			t.Fatalf("waymark record: %v\n%s", err, &w.stderr)
		}
	}
	for i := range killed {
		if _, err := os.Stat(fmt.Sprint(dir, "/", i, "/metadata")); err == nil { // it was not killed before
			readNumbers(t, fmt.Sprint(dir, "/", i))
		}
	}
	if a := readNumbers(t, dir+"/last"); a.received == 0 || a.first+a.received+a.lost != marked {
		t.Errorf("the last: %d received + %d lost from %d on, of %d", a.received, a.lost, a.first, marked)
	}
	if a := readNumbers(t, dir+"/other"); a.received+a.lost != min(marked, 200_000) {
		t.Errorf("the other: %d received + %d lost of %d", a.received, a.lost, min(marked, 200_000))
	}
}

// smallDisk mounts a file system of so many bytes.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	peer.Root(t)
	dir := t.TempDir()
	if err := syscall.Mount("waymark-test", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", size)); err != nil {
		peer.Missing(t, fmt.Sprintf("a file system of its own: %v", err))
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// A full disk ends the recording with an error that says so; what is there is a valid trace, to babeltrace2 as well, and the program
// does not notice.
func TestRecordFullDisk(t *testing.T) {
	babeltrace := peer.Need(t, "babeltrace2")[0]
	path := numbered(t)
	disk := smallDisk(t, 3<<20)
	p := startNumbered(t, path, "2", "1000000")
	w := watchBy(t, "record", "--engine", "agent", "-p", p.pid(), "-o", disk+"/trace")
	p.finish(t)
	w.done = true
	rest, _ := io.ReadAll(&w.stderr)
	if err := w.cmd.Wait(); err == nil {
		t.Errorf("no error: %s", rest)
	}
	a := readNumbers(t, disk+"/trace")
	if m := regexp.MustCompile(`"events":(\d+),.*"end":"disk"`).FindStringSubmatch(w.stdout.String()); m == nil || m[1] != fmt.Sprint(a.received) || a.received < 10_000 {
		t.Errorf("the summary is %s, the trace has %d events", &w.stdout, a.received)
	}
	out, err := exec.Command(babeltrace, disk+"/trace").Output()
	if n := strings.Count(string(out), "numbered:event"); err != nil || uint64(n) != a.received {
		t.Errorf("babeltrace2: %d events, %v; waymark reads %d", n, err, a.received)
	}
}

// Rings that a full file system has no room for are refused at the start, and the program goes on: to find out in the middle of a
// mark would be its death by SIGBUS. Rings without a name are not on that file system.
func TestRingsFullDisk(t *testing.T) {
	path := numbered(t)
	disk := smallDisk(t, 3<<20)
	t.Setenv("XDG_RUNTIME_DIR", disk)
	p := startNumbered(t, path, "2", "200000")
	for _, args := range [][]string{{"--flight", "16M"}, {"--session", "oldest"}} {
		out, err := exec.Command(waymark(t), append([]string{"record", "-p", p.pid()}, args...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "no space left on device") || !strings.Contains(string(out), "waymark: hint: ") {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
	out, err := exec.Command(waymark(t), "record", "-p", p.pid(), "--flight", "1M").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	// What was had stays had when somebody fills the rest.
	if err := exec.Command("dd", "if=/dev/zero", "of="+disk+"/full", "bs=4k").Run(); err == nil {
		t.Error("the disk is not full")
	}
	marked := p.finish(t)
	trace := t.TempDir() + "/recovered"
	if out, err := exec.Command(waymark(t), "recover", "--remove", "-p", p.pid(), "-o", trace).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	} else if a := readNumbers(t, trace); a.received+a.lost != marked {
		t.Errorf("%d events and %d overwritten of %d", a.received, a.lost, marked)
	}
}
