package e2e

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// tutorialBlock matches a fenced block, with the name of the file that it is if the line before gives one.
var tutorialBlock = regexp.MustCompile("(?ms)(?:^`([a-z.]+)`[^\n]*:\n\n)?^```(\\w+)\n(.*?)^```$")

// TestTutorial does all that docs/tutorial.md tells its readers to do: it writes the files, and runs the commands in one
// shell, as root and as an ordinary user. Each line of output that the page shows must be printed, but for its numbers.
func TestTutorial(t *testing.T) {
	peer.Root(t)
	peer.Need(t, "bpftrace", "curl")
	for _, tt := range []struct {
		name   string
		prefix []string
	}{
		{"root", nil},
		{"an ordinary user", []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // they wait for the durations that the page gives to each command
			runTutorial(t, tt.prefix)
		})
	}
}

func runTutorial(t *testing.T, prefix []string) {
	page, err := os.ReadFile("../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(page), "localhost:8080", l.Addr().String())
	l.Close()

	dir, err := os.MkdirTemp("", "waymark-tutorial")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	script, shown := shellOf(text)
	if len(prefix) > 0 { // the page gives this line to root
		script = regexp.MustCompile(`(?m)^bpftrace .*\n`).ReplaceAllString(script, "")
	}
	if n := strings.Count(script, "\nwaymark "); n < 9 {
		t.Fatalf("the page has %d command lines of waymark:\n%s", n, script)
	}
	environment := append(proxied(t, dir), "GOBIN="+dir+"/bin", "PATH="+dir+"/bin:"+os.Getenv("PATH"), "HOME="+dir, "TMPDIR="+dir, "XDG_RUNTIME_DIR=")
	// Whoever traces, root builds: its caches are not an ordinary user's.
	build, use, found := strings.Cut(script, "./shop &")
	if !found {
		t.Fatal("the page does not start the shop")
	}
	out := shell(t, dir, environment, nil, build)
	if len(prefix) > 0 {
		run(t, "chown", "-R", "65534:65534", filepath.Join(dir, "shop"))
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	out += shell(t, filepath.Join(dir, "shop"), environment, prefix, "./shop &"+use)
	printed := make(map[string]bool)
	for line := range strings.Lines(out) {
		printed[shape(line)] = true
	}
	for _, line := range shown {
		if s := shape(line); s != "" && !printed[s] {
			t.Errorf("the page shows %q, which is not in\n%s", line, out)
		}
	}
	if strings.Contains(out, "warning") {
		t.Errorf("a warning in\n%s", out)
	}
}

// shell runs a script, which may leave processes in the background, and returns its output. They end with it.
func shell(t *testing.T, dir string, environment, prefix []string, script string) string {
	t.Helper()
	argv := append(prefix, "bash", "-ec", script)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, environment
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// shellOf returns the page as a shell script, and the lines of output that it shows.
func shellOf(page string) (script string, shown []string) {
	var b strings.Builder
	for _, m := range tutorialBlock.FindAllStringSubmatch(page, -1) {
		file, language, content := m[1], m[2], m[3]
		switch {
		case file != "":
			fmt.Fprintf(&b, "cat >%s <<'END OF FILE'\n%sEND OF FILE\n", file, content)
		case language == "sh":
			b.WriteString(content)
		case language == "text":
			for line := range strings.Lines(content) {
				shown = append(shown, line)
			}
		}
	}
	return b.String(), shown
}
