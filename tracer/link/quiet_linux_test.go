package link

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
)

// quiet runs the program and returns what it printed, its goroutines and its resident kilobytes.
func quiet(t *testing.T, path string) (out string, goroutines, rss int) {
	t.Helper()
	cmd := exec.Command(path)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = []string{"GOMAXPROCS=1", "GOGC=off"} // for memory that does not depend on when
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	if _, err := fmt.Sscan(stderr.String(), &goroutines, &rss); err != nil {
		t.Fatalf("%v: %q", err, &stderr)
	}
	return stdout.String(), goroutines, rss
}

// While nobody traces, an optimized program behaves as the unlinked one does: the same output, the same
// goroutines but the one that watches, and resident memory within a hundredth.
func TestOptimizedIsQuiet(t *testing.T) {
	plain, optimized, _ := optimize(t, gobuild.Config{}, "quiet")
	deaf := filepath.Join(t.TempDir(), "deaf")
	if _, err := File(plain, deaf, Options{Optimize: true, NoWatch: true}); err != nil {
		t.Fatal(err)
	}
	median := func(path string) (string, int, int) {
		var all []int
		var out string
		var goroutines int
		for range 15 {
			o, g, rss := quiet(t, path)
			if out != "" && (o != out || g != goroutines) {
				t.Fatalf("%s: %q with %d goroutines, then %q with %d", path, out, goroutines, o, g)
			}
			out, goroutines, all = o, g, append(all, rss)
		}
		slices.Sort(all)
		return out, goroutines, all[len(all)/2]
	}
	out, goroutines, rss := median(plain)
	for _, c := range []struct {
		path  string
		extra int
	}{{optimized, 1}, {deaf, 0}} {
		o, g, r := median(c.path)
		t.Logf("resident: %d kB unlinked, %d kB optimized", rss, r)
		if o != out || g != goroutines+c.extra {
			t.Errorf("%q with %d goroutines, unlinked %q with %d", o, g, out, goroutines)
		}
		if d := r - rss; d*100 > rss || -d*100 > rss {
			t.Errorf("%d kB resident, unlinked %d kB", r, rss)
		}
	}
}

// The watcher hides that all goroutines are asleep. --no-watch is the way out.
func TestDeadlockReport(t *testing.T) {
	plain, watched, _ := optimize(t, gobuild.Config{}, "quiet")
	deaf := filepath.Join(t.TempDir(), "deaf")
	if _, err := File(plain, deaf, Options{Optimize: true, NoWatch: true}); err != nil {
		t.Fatal(err)
	}
	for path, reports := range map[string]bool{plain: true, deaf: true, watched: false} {
		patience := 5 * time.Second // for what is to wait; nothing is said about how soon the others report
		if reports {
			patience = 2 * time.Minute
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		out, _ := exec.CommandContext(ctx, path, "wait").CombinedOutput()
		late := ctx.Err() != nil
		cancel()
		if reports != strings.Contains(string(out), "all goroutines are asleep - deadlock!") || reports == late {
			t.Errorf("%s: late %t, %.300s", filepath.Base(path), late, out)
		}
	}
}
