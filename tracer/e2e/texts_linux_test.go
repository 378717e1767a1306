package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/internal/test/talk"
)

// A type that is marked by its String method is text for both engines, for conditions and in recordings. The
// method is called once a hit, however many look, and not at all while none does.
func TestTexts(t *testing.T) {
	peer.Root(t)
	run := t.TempDir()
	if err := os.Chmod(run, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", run)
	for _, flags := range [][]string{nil, {"--optimize"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "texts")
			args := append(append([]string{"build"}, flags...), "-o", path, "./testdata/texts")
			if out, err := exec.Command(waymark(t), args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			p := talk.Start(t, exec.Command(path))
			if calls := p.Ask("off"); calls != "0" {
				t.Errorf("%s calls of String while off", calls)
			}
			pid := fmt.Sprint(p.PID())
			eventually(t, "an agent", func() bool {
				all, _ := filepath.Glob(run + "/waymark/" + pid + "-*.sock")
				return len(all) > 0
			})
			dir := t.TempDir()
			watchers := map[string]*watcher{
				"kernel":       watchBy(t, "trace", "--engine", "kernel", "-p", pid, "texts:*"),
				"kernel where": watchBy(t, "trace", "--engine", "kernel", "--where", `state ~ "* 3"`, "-p", pid, "texts:*"),
				"agent":        watchBy(t, "trace", "--engine", "agent", "-p", pid, "texts:*"),
				"agent where":  watchBy(t, "trace", "--engine", "agent", "--where", `state ~ "* 3"`, "-p", pid, "texts:*"),
				"record":       watchBy(t, "record", "--engine", "agent", "-p", pid, "-o", dir+"/trace", "texts:*"),
			}
			if calls := p.Ask("cat"); calls != "10" {
				t.Errorf("%s calls of String for 10 hits", calls)
			}
			for _, w := range watchers {
				w.interrupt()
			}
			if calls := p.Ask("off"); calls != "10" {
				t.Errorf("%s calls of String when off again", calls)
			}
			var want []typedEvent
			for i := range 10 {
				state := fmt.Sprint("state ", i)
				if i == 7 {
					state = "%!v(PANIC=String method: seven)"
				}
				want = append(want, typedEvent{Marker: "texts:changed", Fields: map[string]any{"state": state, "n": json.Number(fmt.Sprint(i)), "title": "the cat"}})
			}
			for name, w := range watchers {
				printed, want := w.stdout.Bytes(), want
				if name == "record" {
					var err error
					if printed, err = exec.Command(waymark(t), "report", "--json", dir+"/trace").Output(); err != nil {
						t.Fatal(err)
					}
				}
				if strings.HasSuffix(name, "where") {
					want = slices.Clone(want[3:4])
				}
				sameEvents(t, name, printedEvents(t, printed), want)
			}
			if err := p.End(); err != nil {
				t.Error(err)
			}
		})
	}
}
