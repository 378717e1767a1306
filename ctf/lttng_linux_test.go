package ctf_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

var lttngEvents = flag.Int("lttng-events", 20000, "how many events LTTng records to be compared")

// lttng is a session daemon of our own, that of an ordinary user: root's would be the machine's.
type lttng struct {
	t    *testing.T
	home string
}

func newLTTng(t *testing.T) *lttng {
	paths := peer.Need(t, "lttng-sessiond", "lttng", "gcc", "babeltrace2")
	peer.Header(t, "lttng/tracepoint.h")
	l := &lttng{t, t.TempDir()}
	for dir := l.home; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	daemon := l.command(paths[0], "--no-kernel")
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = daemon.Process.Signal(syscall.SIGTERM)
		_ = daemon.Wait()
	})
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if err := l.command("lttng", "--no-sessiond", "list").Run(); err == nil {
			return l
		} else if time.Now().After(deadline) {
			t.Fatalf("lttng-sessiond does not answer: %v", err)
		}
	}
}

func (l *lttng) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "LTTNG_HOME="+l.home, "HOME="+l.home, "LTTNG_UST_REGISTER_TIMEOUT=-1")
	cmd.Dir = l.home
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return cmd
}

func (l *lttng) run(name string, args ...string) {
	l.t.Helper()
	if out, err := l.command(name, args...).CombinedOutput(); err != nil {
		l.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// record records a program's events and returns where the trace is.
func (l *lttng) record(channel []string, program string, events int) string {
	l.t.Helper()
	out := filepath.Join(l.home, "trace")
	l.run("lttng", "create", "s", "--output="+out)
	l.run("lttng", append([]string{"enable-channel", "-u", "c"}, channel...)...)
	l.run("lttng", "enable-event", "-u", "-c", "c", "-a")
	l.run("lttng", "add-context", "-u", "-c", "c", "-t", "vpid", "-t", "vtid", "-t", "procname")
	l.run("lttng", "start")
	l.run(program, fmt.Sprint(events))
	l.run("lttng", "stop")
	l.run("lttng", "destroy")
	dirs, err := ctf.Find(out)
	if err != nil || len(dirs) != 1 {
		l.t.Fatalf("LTTng made the traces %q: %v", dirs, err)
	}
	return dirs[0]
}

// TestLTTng reads a recording of LTTng, with every type of field, and agrees with babeltrace2 on every
// event.
func TestLTTng(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for seconds")
	}
	program := ""
	for _, c := range []struct {
		name    string
		channel []string
		events  int
		loses   bool
		drops   bool // whole packets, which have no count of events
	}{
		{"all", []string{"--subbuf-size=1M", "--num-subbuf=16"}, *lttngEvents, false, false},
		{"losing", []string{"--subbuf-size=4096", "--num-subbuf=2", "--tracefile-size=16384"}, *lttngEvents, true, false},
		{"overwriting", []string{"--overwrite", "--subbuf-size=4096", "--num-subbuf=2"}, 10 * *lttngEvents, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLTTng(t)
			program = filepath.Join(l.home, "program")
			if out, err := exec.Command("gcc", "-O2", "-Itestdata/lttng", "-o", program, "testdata/lttng/main.c", "-llttng-ust", "-ldl").CombinedOutput(); err != nil {
				t.Fatalf("gcc: %v\n%s", err, out)
			}
			dir := l.record(c.channel, program, c.events)
			trace, err := ctf.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			want := babeltrace2(t, dir, "--clock-seconds", "--no-delta")
			var got []string
			n := readAll(t, ctf.NewReader(trace), func(_ int, e *ctf.Event) {
				time, rest, _ := strings.Cut(pretty(e), "] ")
				got = append(got, time+"] "+trace.Get("hostname").Text+" "+rest)
			})
			agree(t, got, want)
			var lost, packets uint64
			for _, s := range trace.Streams {
				lost += s.Discarded()
				packets += s.LostPackets()
			}
			if want, _ := babeltrace2Lost(t, dir); packets != want || c.drops != (packets > 0) {
				t.Errorf("%d packets lost, %d by babeltrace2", packets, want)
			}
			if c.drops {
				return
			}
			t.Logf("%d events in %d streams, %d lost", n, len(trace.Streams), lost)
			if c.loses != (lost > 0) {
				t.Errorf("%d events lost", lost)
			}
			if marked := c.events + (c.events+6)/7; !c.loses && n < marked || uint64(n)+lost < uint64(marked) {
				t.Errorf("%d events and %d lost, of %d that were marked", n, lost, marked)
			}
		})
	}
}
