package tracer

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// digits are those of a process.
var digits = regexp.MustCompile(`\(process [0-9]+\)`)

// public returns a copy of the program that every user may execute.
func public(t *testing.T, path string) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "waymark-public-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	out := filepath.Join(dir, filepath.Base(path))
	if err == nil {
		err = os.WriteFile(out, b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// No parent notices that its child was held, whatever it waits for, and each hit is counted from the first
// instruction on.
func TestFollowUnseen(t *testing.T) {
	path := public(t, tick(t))
	for name, test := range map[string]struct {
		script string
		want   []string // of what it prints, in any order
		hits   uint64
	}{
		"WUNTRACED": {"exec python3 testdata/untraced.py %[1]s 30 run", []string{"done 30", "exited 0"}, 30},
		"runuser":   {"exec runuser -u nobody -- %[1]s 40 run", []string{"done 40"}, 40},
		"su":        {"exec su nobody -s /bin/sh -c '%[1]s 50 run'", []string{"done 50"}, 50},
		"sudo":      {"exec sudo -u nobody %[1]s 50 run", []string{"done 50"}, 50},
		"set -m":    {"exec bash -c 'set -m; %[1]s 20 run; %[1]s 30 run & wait $!; jobs; echo $?'", []string{"0", "done 20", "done 30"}, 50},
		"gdb":       {"exec gdb -q -nx -batch -ex 'set startup-with-shell off' -ex run --args %[1]s 60 run", []string{"[Inferior 1 (process N) exited normally]", "done 60"}, 60},
	} {
		t.Run(name, func(t *testing.T) {
			command := strings.Fields(test.script)[1]
			peer.Need(t, command)
			p := startProgram(t, peer.Need(t, "sh")[0], "-c", "echo ready; read x; "+fmt.Sprintf(test.script, path))
			c, err := Count(PIDs(p.PID()).Follow(), nil, &CountOptions{Attach: Attach{Later: later(t, true)}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			p.run()
			var said []string
			for len(said) < len(test.want) {
				if line := p.Line(); strings.HasPrefix(line, "[Inferior") || !strings.HasPrefix(line, "[") && line != "" {
					said = append(said, digits.ReplaceAllString(line, "(process N)"))
				}
			}
			slices.Sort(said)
			if !slices.Equal(said, test.want) {
				t.Errorf("it prints %q, want %q", said, test.want)
			}
			<-c.Ended()
			if got := hits(t, c); got["loop1"] != test.hits || got["loop2"] != test.hits {
				t.Errorf("counted %v, want %d", got, test.hits)
			}
		})
	}
}

// holdHelper attaches to a process and takes forever over what appears in it.
func holdHelper(pid int) {
	hold := func(*Marker) bool {
		fmt.Println("holding")
		select {}
	}
	if _, err := Count(PIDs(pid).Follow(), nil, &CountOptions{Attach: Attach{Later: &Later{Pause: true, Choose: hold}}}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("attached")
	select {}
}

// A tracer that is killed while it holds a program leaves it running.
func TestHeldByKilled(t *testing.T) {
	path := tick(t)
	for _, debugged := range []bool{false, true} {
		t.Run(fmt.Sprint("debugged ", debugged), func(t *testing.T) {
			run := "exec " + path + " 30 run"
			if debugged {
				peer.Need(t, "gdb")
				run = fmt.Sprintf("exec gdb -q -nx -batch -ex 'set startup-with-shell off' -ex run --args %s 30 run", path)
			}
			p := startProgram(t, peer.Need(t, "sh")[0], "-c", "echo ready; read x; "+run)
			cmd := exec.Command("/proc/self/exe")
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=hold %d", helperEnv, p.PID()))
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			expect := func(word string) {
				t.Helper()
				b := make([]byte, len(word)+1)
				if _, err := out.Read(b); err != nil || string(bytes.TrimSpace(b)) != word {
					t.Fatalf("the tracer says %q, %v, want %q", b, err, word)
				}
			}
			expect("attached")
			p.run()
			expect("holding")
			if !debugged {
				eventually(t, "the program is held", func() bool {
					st, err := procfs.ReadStat(p.PID())
					return err == nil && st.State == 't'
				})
			}
			cmd.Process.Kill()
			cmd.Wait()
			for line := ""; !strings.HasPrefix(line, "done "); {
				line = p.Line()
			}
		})
	}
}

// A process that something else debugs waits for a limited time. When that is over it runs, and it is said from
// when on its hits count.
func TestFollowDebuggedTooLong(t *testing.T) {
	path := tick(t)
	peer.Need(t, "gdb")
	p := startProgram(t, peer.Need(t, "sh")[0], "-c", fmt.Sprintf(
		"echo ready; read x; exec gdb -q -nx -batch -ex 'set startup-with-shell off' -ex run --args %s 30 run", path))
	said := make(chan error, 1)
	slow := &Later{Pause: true, Choose: func(m *Marker) bool {
		if m.Name == "loop1" {
			time.Sleep(4 * time.Second)
		}
		return m.Provider == "sdt_tick"
	}}
	slow.Report = func(_ []*Marker, err error) {
		if err != nil {
			select {
			case said <- err:
			default:
			}
		}
	}
	c, err := Count(PIDs(p.PID()).Follow(), nil, &CountOptions{Attach: Attach{Later: slow}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p.run()
	for line := ""; !strings.HasPrefix(line, "done "); {
		line = p.Line()
	}
	select {
	case err := <-said:
		if s := err.Error(); !strings.Contains(s, "debugs it") || !strings.Contains(s, "count from ") {
			t.Errorf("it says %q", s)
		}
	case <-time.After(time.Minute):
		t.Error("it says nothing")
	}
}
