package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

var block = regexp.MustCompile("(?s)```(go|console)\n(.*?)```")

// shape is what remains of a line when numbers and the width of columns may differ.
func shape(line string) string {
	line = regexp.MustCompile(`0x[0-9a-f]+|[0-9][0-9.:]*`).ReplaceAllString(line, "N")
	line = regexp.MustCompile(`\bN[nµm]s\b`).ReplaceAllString(strings.ReplaceAll(line, "█", ""), "Ns")
	line = regexp.MustCompile(`\S*/server\b`).ReplaceAllString(line, "server")
	return strings.Join(strings.Fields(line), " ")
}

// The transcript in README is what these commands print, and its Go is that of examples that run.
func TestReadme(t *testing.T) {
	peer.Root(t)
	peer.Need(t, "bpftrace", "gdb")
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var examples string
	for _, path := range []string{"../../examples/minimal/main.go", "../../marker/example_test.go", "../../tracepoint/example_test.go", "../../sink/stats/example_test.go"} {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		examples += string(source)
	}
	dir, err := os.MkdirTemp("", "waymark")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	commands := 0
	for _, m := range block.FindAllStringSubmatch(string(text), -1) {
		if m[1] == "go" {
			for line := range strings.Lines(m[2]) {
				if code, _, _ := strings.Cut(line, "//"); !strings.Contains(examples, strings.TrimSpace(code)) {
					t.Errorf("this line is in no example: %s", line)
				}
			}
			continue
		}
		for _, session := range strings.Split("\n"+m[2], "\n$ ")[1:] {
			commands++
			command, want, _ := strings.Cut(session, "\n")
			checkTranscript(t, filepath.Join(dir, "server"), command, want)
		}
	}
	if commands < 5 {
		t.Errorf("README shows %d commands", commands)
	}
}

func checkTranscript(t *testing.T, server, command, want string) {
	t.Helper()
	// The commands run in the module, the program they build lies elsewhere.
	placed := strings.NewReplacer("./server", server, "-o server", "-o "+server).Replace(command)
	cmd := exec.Command("bash", "-c", placed)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(waymark(t))+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("$ %s: %v\n%s", command, err, out)
	}
	printed := make(map[string]bool)
	for line := range strings.Lines(string(out)) {
		printed[shape(line)] = true
	}
	for line := range strings.Lines(want) {
		if s := shape(line); s != "" && !printed[s] {
			t.Errorf("$ %s\nthe document says %q, which is not in\n%s", command, line, out)
		}
	}
}

// The demo does its job and says so, with the kernel's tracing and without.
func TestDemo(t *testing.T) {
	peer.Root(t)
	for _, tt := range []struct {
		name   string
		prefix []string
		want   string
	}{
		{"root", nil, "the kernel counted 24"},
		{"an ordinary user", []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}, "the agent counted 24"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			argv := append(tt.prefix, waymark(t), "demo")
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Dir = "../.."
			cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false -modcacherw")
			if tt.prefix != nil { // an ordinary user has caches elsewhere
				home, err := os.MkdirTemp("", "waymark-home")
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { os.RemoveAll(home) })
				if err := errors.Join(os.Chmod(home, 0o777), os.Chmod(filepath.Dir(waymark(t)), 0o755)); err != nil {
					t.Fatal(err)
				}
				cmd.Env = append(cmd.Env, "HOME="+home, "TMPDIR="+home, "GOCACHE="+home+"/cache", "GOMODCACHE="+home+"/mod")
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, want := range []string{tt.want, "exactly as many as the server itself", "8000 pairs", "http:request_start  path string, id uint64"} {
				if !strings.Contains(string(out), want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		})
	}
}
