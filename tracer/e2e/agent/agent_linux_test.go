package agent_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/agent"
	"github.com/waymark-trace/waymark/tracer/client"
)

// With the agent and nobody connected, a program differs by one goroutine and one socket.
func TestIdle(t *testing.T) {
	runtimeDir(t)
	without := run(t, nil, "WAYMARK_TEST_START=auto", "WAYMARK_AGENT=0")
	with := run(t, nil, "WAYMARK_TEST_START=auto", "WAYMARK_AGENT=1")
	with.ask("look")
	without.ask("look")
	a, b := without.ask("look"), with.ask("look")
	if b.Goroutines != a.Goroutines+1 || b.Files != a.Files+1 || b.Sockets != a.Sockets+1 {
		t.Errorf("without the agent %d goroutines, %d files, %d sockets; with it %d, %d, %d: want one more of each",
			a.Goroutines, a.Files, a.Sockets, b.Goroutines, b.Files, b.Sockets)
	}
	if b.Armed || b.Verbose {
		t.Error("something is armed")
	}
	a2, b2 := without.ask("idle"), with.ask("idle")
	// What the test itself allocates in between is the same on both sides, give or take what
	// the runtime does now and then.
	if mine, its := b2.Mallocs-b.Mallocs, a2.Mallocs-a.Mallocs; mine > its+20 {
		t.Errorf("%d allocations while idle with the agent, %d without", mine, its)
	}
}

func TestPoints(t *testing.T) {
	runtimeDir(t)
	p := run(t, nil)
	p.ask("look")
	a := dial(t, p)
	points, err := a.Points()
	if err != nil {
		t.Fatal(err)
	}
	find := func(name string) client.Point {
		i := slices.IndexFunc(points, func(p client.Point) bool { return p.Name == name })
		if i < 0 {
			t.Fatalf("no %s in %v", name, points)
		}
		return points[i]
	}
	if m := find("target:worked"); m.Kind != "marker" || m.Format != "what %s n %d" || len(m.Fields) != 2 || m.Fields[0].Name != "what" {
		t.Errorf("%+v", m)
	}
	if k := find("target:verbose"); k.Kind != "key" || k.Armed != 0 {
		t.Errorf("%+v", k)
	}
	if k := find("target:checks"); k.Kind != "key" || k.Armed != 1 {
		t.Errorf("%+v", k)
	}
	if tp := find("target:typed"); tp.Kind != "tracepoint" || len(tp.Fields) != 1 {
		t.Errorf("%+v", tp)
	}
}

func dial(t *testing.T, p *program) *client.Agent {
	t.Helper()
	a, err := client.Dial(p.PID())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func TestSwitching(t *testing.T) {
	runtimeDir(t)
	p := run(t, nil)
	if s := p.ask("look"); s.Armed || s.Verbose || !s.Checks {
		t.Fatalf("%+v", s)
	}
	a := dial(t, p)
	must(t, a.Arm([]string{"target:worked"}))
	must(t, a.Switch([]string{"target:verbose"}, true))
	must(t, a.Switch([]string{"target:checks"}, false))
	if s := p.ask("mark"); !s.Armed || !s.Verbose || s.Checks {
		t.Errorf("%+v", s)
	}
	// All or nothing.
	err := a.Arm([]string{"target:worked", "target:nobody"})
	if err == nil || !strings.Contains(err.Error(), "target:nobody") {
		t.Errorf("arming what there is not: %v", err)
	}
	if err := a.Switch([]string{"target:checks", "target:nobody"}, true); err == nil {
		t.Error("switching what there is not")
	}
	if s := p.ask("look"); s.Checks {
		t.Error("a refused request has switched a key")
	}
	must(t, a.Close())
	eventually(t, "undone after Close", func() bool {
		s := p.ask("look")
		return !s.Armed && !s.Verbose && s.Checks
	})
}

// switcher is a process that holds what it switched until it dies.
func switcher() {
	pid, _ := strconv.Atoi(os.Getenv("WAYMARK_TEST_PID"))
	a, err := client.Dial(pid)
	if err == nil {
		err = errors.Join(a.Arm([]string{"target:worked"}), a.Switch([]string{"target:verbose"}, true))
	}
	fmt.Println(err)
	select {}
}

// Whatever a client has armed is undone however it goes.
func TestKilledClient(t *testing.T) {
	runtimeDir(t)
	p := run(t, nil)
	p.ask("look")
	for range 3 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "WAYMARK_TEST_ROLE=client", fmt.Sprintf("WAYMARK_TEST_PID=%d", p.PID()))
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		if said, err := bufio.NewReader(out).ReadString('\n'); err != nil || said != "<nil>\n" {
			t.Errorf("client: %q, %v", said, err)
		}
		if s := p.ask("look"); !s.Armed || !s.Verbose {
			t.Errorf("%+v", s)
		}
		must(t, cmd.Process.Kill())
		cmd.Wait()
		eventually(t, "undone after SIGKILL", func() bool {
			s := p.ask("look")
			return !s.Armed && !s.Verbose
		})
	}
}

func TestStartAndStop(t *testing.T) {
	dir := runtimeDir(t)
	a, err := agent.Start(nil)
	must(t, err)
	if _, err := agent.Start(nil); !errors.Is(err, agent.ErrRunning) {
		t.Errorf("a second agent: %v", err)
	}
	info, err := os.Lstat(a.Socket())
	must(t, err)
	parent, err := os.Lstat(filepath.Dir(a.Socket()))
	must(t, err)
	if info.Mode() != os.ModeSocket|0o600 || parent.Mode() != os.ModeDir|0o700 || !strings.HasPrefix(a.Socket(), dir) {
		t.Errorf("%s is %v in %v", a.Socket(), info.Mode(), parent.Mode())
	}
	c, err := client.Dial(os.Getpid())
	must(t, err)
	must(t, c.Arm([]string{"target:worked"}))
	must(t, a.Stop())
	must(t, a.Stop())
	c.Wait()
	if worked.Enabled() {
		t.Error("a marker is armed after Stop")
	}
	if _, err := os.Lstat(a.Socket()); !os.IsNotExist(err) {
		t.Errorf("socket after Stop: %v", err)
	}
	if _, err := client.Dial(os.Getpid()); !errors.Is(err, client.ErrNoAgent) {
		t.Errorf("connecting after Stop: %v", err)
	}
	a, err = agent.Start(nil)
	must(t, err)
	must(t, a.Stop())
}

// A program that executes itself anew, or dies, leaves a socket at which nobody listens.
func TestStaleSocket(t *testing.T) {
	dir := runtimeDir(t)
	p := run(t, nil)
	p.ask("look")
	must(t, p.Cmd.Process.Kill())
	p.End()
	sockets := func() int {
		all, err := filepath.Glob(dir + "/waymark/*.sock")
		must(t, err)
		return len(all)
	}
	if n := sockets(); n != 1 {
		t.Fatalf("%d sockets after SIGKILL", n)
	}
	q := run(t, nil)
	q.ask("look")
	if n := sockets(); n != 1 {
		t.Errorf("%d sockets: the dead process's was to be removed", n)
	}
	dial(t, q)
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(pattern)
	must(t, err)
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
