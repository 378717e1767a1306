package view

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// drawEnv makes the test binary draw a live view on its terminal, several times, and stay.
const drawEnv = "WAYMARK_VIEW_DRAW"

// A terminal, tmux's, shows one frame after several were drawn, each line in one row: also if it is narrow and
// names are of other scripts.
func TestLiveOnTerminal(t *testing.T) {
	if os.Getenv(drawEnv) != "" {
		drawForTerminal(t)
		return
	}
	tmux := peer.Need(t, "tmux")[0]
	for _, size := range [][2]int{{80, 24}, {20, 24}, {20, 4}, {7, 10}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			socket := filepath.Join(t.TempDir(), "tmux")
			do := func(args ...string) string {
				t.Helper()
				cmd := exec.Command(tmux, append([]string{"-u", "-f", "/dev/null", "-S", socket}, args...)...)
				cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TERM=xterm-256color", "NO_COLOR=1", drawEnv+"=1")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("tmux %v: %v\n%s", args, err, out)
				}
				return string(out)
			}
			do("new-session", "-d", "-x", fmt.Sprint(size[0]), "-y", fmt.Sprint(size[1]), os.Args[0], "-test.run=^TestLiveOnTerminal$")
			defer do("kill-server")
			do("set", "-g", "status", "off")
			want := liveLines(wideSample(3), &StatTable{}, size[0], size[1]-1)
			want = want[:min(len(want), size[1]-1)]
			var got []string
			for range 100 {
				got = strings.Split(strings.TrimRight(do("capture-pane", "-p", "-S", "-100"), "\n"), "\n")
				if cmp.Equal(want, got) {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
			t.Errorf("(-want +got):\n%s", cmp.Diff(want, got))
		})
	}
}

func wideSample(n int) *Sample {
	return &Sample{Elapsed: time.Duration(n) * time.Second, Interval: time.Second, Rows: wideRows()}
}

func drawForTerminal(t *testing.T) {
	out, err := term.NewEnv(term.Streams{Stdout: os.Stdout, Stderr: os.Stderr}).OpenOutput("", false)
	if err != nil {
		t.Fatal(err)
	}
	v := NewStatLive(out, StatPlain{Out: out})
	for n := range 4 {
		if err := v.Interval(wideSample(n)); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(time.Hour) // until the server is killed
}
