package agent_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/agent"
	"github.com/waymark-trace/waymark/internal/test/talk"
	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/statickey"
	"github.com/waymark-trace/waymark/tracepoint"
)

// The points of the program that these tests run: this test's own executable, started again.
var (
	worked  = marker.New2[string, int]("target:worked", "what %s n %d")
	verbose = statickey.New("target:verbose")
	checks  = statickey.NewOn("target:checks")
	typed   = tracepoint.New1[*state]("target:typed")

	// Passed once, twice and three times in each turn.
	turnA = marker.New1[int]("turns:a", "n %d")
	turnB = marker.New1[int]("turns:b", "n %d")
	turnC = marker.New1[int]("turns:c", "n %d")
)

// turn passes the markers of turns for good, with a pause after each turn.
func turn(pause time.Duration) {
	for n := 0; ; n++ {
		for begun := time.Now(); time.Since(begun) < pause; {
		}
		turnA.Mark(n)
		for range 2 {
			turnB.Mark(n)
		}
		for range 3 {
			turnC.Mark(n)
		}
		runtime.Gosched()
	}
}

// state is what the target says of itself for each line that it reads, and a type of a tracepoint.
type state struct {
	Goroutines int
	Files      int
	Sockets    int
	Mallocs    uint64
	RSS        int // KiB
	Armed      bool
	Verbose    bool
	Checks     bool
	Socket     string
	Err        string
}

func TestMain(m *testing.M) {
	switch os.Getenv("WAYMARK_TEST_ROLE") {
	case "target":
		target()
		return
	case "inherit": // what programs that it executes find in their environment
		cmd := exec.Command("sh", "-c", "echo ${WAYMARK_AGENT-unset}")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			os.Exit(1)
		}
		return
	case "client":
		switcher()
		return
	case "raw":
		raw()
		return
	case "liar":
		liar()
		return
	case "fake":
		fake()
		return
	}
	os.Exit(m.Run())
}

func target() {
	var s state
	switch os.Getenv("WAYMARK_TEST_START") {
	case "auto": // by the environment
	case "":
		a, err := agent.Start(nil)
		if err != nil {
			s.Err = err.Error()
		} else {
			s.Socket = a.Socket()
		}
	}
	n := 0 // marks so far
	in := bufio.NewScanner(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		do, times, _ := strings.Cut(in.Text(), " ")
		switch do {
		case "mark":
			m, _ := strconv.Atoi(times)
			for range max(m, 1) {
				worked.Mark("x", n)
				n++
			}
		case "turn":
			m, _ := strconv.Atoi(times)
			for range m {
				go turn(0)
			}
		case "stroll":
			m, _ := strconv.Atoi(times)
			for range m {
				go turn(20 * time.Microsecond)
			}
		case "die": // in the middle of it
			for {
				worked.Mark("x", n)
				if n++; n == 100_000 {
					syscall.Kill(os.Getpid(), syscall.SIGKILL)
				}
			}
		case "panic":
			for {
				worked.Mark("x", n)
				if n++; n == 100_000 {
					panic("it was asked to")
				}
			}
		case "eat": // and be killed for it
			eat(os.Getenv("WAYMARK_TEST_PROGRESS"))
		case "idle": // long enough for whatever runs now and then
			time.Sleep(300 * time.Millisecond)
		}
		if err := out.Encode(s.look()); err != nil {
			return
		}
	}
}

func (s *state) look() *state {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.Mallocs = m.Mallocs
	s.Goroutines = runtime.NumGoroutine()
	s.Armed, s.Verbose, s.Checks = worked.Enabled(), verbose.Enabled(), checks.Enabled()
	s.Files, s.Sockets = 0, 0
	files, _ := os.ReadDir("/proc/self/fd")
	for _, f := range files {
		if to, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil {
			s.Files++
			if strings.HasPrefix(to, "socket:") {
				s.Sockets++
			}
		}
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmRSS:") {
			fmt.Sscanf(line, "VmRSS: %d", &s.RSS)
		}
	}
	typed.Trace(s)
	return s
}

// program is a target that runs.
type program struct {
	*talk.Program
	t *testing.T
}

// run starts the target with these variables in its environment, through argv when there are some.
func run(t *testing.T, argv []string, env ...string) *program {
	t.Helper()
	argv = append(argv, os.Args[0])
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(append(os.Environ(), "WAYMARK_TEST_ROLE=target", "GORACE=atexit_sleep_ms=0"), env...)
	cmd.Stderr = os.Stderr
	p := &program{talk.Start(t, cmd), t}
	t.Cleanup(func() { p.End() }) // as programs end: the agent removes its socket
	return p
}

// ask has the target do something, and returns how it is then.
func (p *program) ask(do string) state {
	p.t.Helper()
	var s state
	if err := json.Unmarshal([]byte(p.Ask(do)), &s); err != nil {
		p.t.Fatalf("the target: %v", err)
	}
	return s
}

// runtimeDir gives the target and this process a run-time directory of this test's own.
func runtimeDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", dir)
	return dir
}

// eventually waits for what another process brings about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 12_000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%s: not after two minutes", what)
}
