package history

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// built has the programs, and what strikes with them.
type built struct {
	waymark    string
	programs   [forms]string
	babeltrace string
	gdb        string
	bpftrace   string
}

// build builds all forms of the program. WAYMARK_HISTORY_BUILT is a directory that keeps them between runs.
func build(t *testing.T) *built {
	t.Helper()
	dir := os.Getenv("WAYMARK_HISTORY_BUILT")
	if dir == "" {
		dir = scratch(t) + fmt.Sprintf("/waymark-history-%d", os.Getpid())
		t.Cleanup(func() { os.RemoveAll(dir) })
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	b := &built{waymark: dir + "/waymark"}
	for f := range forms {
		b.programs[f] = dir + "/" + strings.ReplaceAll(f.String(), " ", "-")
	}
	paths := peer.Need(t, "gdb", "babeltrace2", "bpftrace")
	b.gdb, b.babeltrace, b.bpftrace = paths[0], paths[1], paths[2]
	done := dir + "/done"
	if _, err := os.Stat(done); err == nil {
		return b
	}
	command(t, "go", "build", "-o", b.waymark, "../../../cmd/waymark")
	command(t, "go", "build", "-o", b.programs[goUnlinked], "./testdata/marks")
	command(t, b.waymark, "link", "-o", b.programs[goLinked], b.programs[goUnlinked])
	command(t, b.waymark, "link", "--optimize", "-o", b.programs[goOptimized], b.programs[goUnlinked])
	command(t, "gcc", "-O2", "-Wall", "-Werror", "-DCOUNTER", "-o", b.programs[cCounter], "testdata/marks.c", "-lpthread")
	command(t, "gcc", "-O2", "-Wall", "-Werror", "-o", b.programs[cPlain], "testdata/marks.c", "-lpthread")
	if err := os.WriteFile(done, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBuild builds them for the runs that follow, where they are kept.
func TestBuild(t *testing.T) {
	if os.Getenv("WAYMARK_HISTORY_BUILT") == "" {
		t.Skip("WAYMARK_HISTORY_BUILT is not set")
	}
	build(t)
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// scratch returns a directory in memory if there is one: threads write while they are timed.
func scratch(t *testing.T) string {
	t.Helper()
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return os.TempDir()
}

// otherTracer has bpftrace count the program's marks for some time.
func (r *run) otherTracer(length time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.bpftrace, "-e",
		fmt.Sprintf(`usdt:"%s":history:mark { @ = count(); } interval:ms:%d { exit(); }`, r.program.path, length.Milliseconds()))
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Logf("bpftrace: %v\n%.500s", err, out)
	}
}

// copyProgram gives a run a file of its own, so that tracers of the file see no processes of another run.
func copyProgram(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(to, text, 0o700); err != nil {
		t.Fatal(err)
	}
	return to
}

func splitLines(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }

func splitFields(s string) iter.Seq[string] { return strings.FieldsSeq(s) }
