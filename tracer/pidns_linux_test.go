package tracer

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// nestedEnv makes TestTraceInNestedPIDNamespace the tracer that it runs in a namespace.
const nestedEnv = "WAYMARK_TRACER_NESTED"

// attachedSuffix names the file beside the program that the nested tracer makes once it has attached.
const attachedSuffix = ".attached"

// A process of a namespace below the tracer's has the number that the tracer sees; one that it
// does not see has none. The tracer is in the initial namespace first, and then in one of its own.
func TestTraceInNestedPIDNamespace(t *testing.T) {
	peer.Root(t)
	unshare := peer.Need(t, "unshare")[0]
	if path, ok := os.LookupEnv(nestedEnv); ok {
		traceNested(t, path)
		return
	}
	path := tick(t)
	traceNested(t, path)
	outside := startTick(t, path, 7)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(unshare, "--pid", "--fork", "--mount-proc", self, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), nestedEnv+"="+path)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// A raised counter is no sign: hits count once everything is attached.
	eventually(t, "the other tracer has attached", func() bool {
		_, err := os.Stat(path + attachedSuffix)
		return err == nil
	})
	outside.run()
	outside.Expect("done 0") // of loop2, which nobody traces
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "--- PASS") {
		t.Errorf("%v\n%s", err, &out)
	}
}

// traceNested traces a process in a namespace below, and in a namespace of its own waits for
// one of outside first.
func traceNested(t *testing.T, path string) {
	tr, err := Trace(Path(path), mustFind(t, Path(path), "loop1"), &TraceOptions{OwnPIDs: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if os.Getenv(nestedEnv) != "" {
		if err := os.WriteFile(path+attachedSuffix, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := 5
	cmd := exec.Command(path, fmt.Sprint(want), "run")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	seen := map[int]int{}
	next := func() {
		e, err := next(t.Context(), tr)
		if err != nil {
			t.Fatal(err)
		}
		if e.TID != e.PID {
			t.Errorf("thread %d of process %d", e.TID, e.PID)
		}
		seen[e.PID]++
		own := 0 // of who is not below
		if cmd.Process != nil {
			own = 1 // the first process there
		}
		if e.NSPID != own || e.NSTID != own {
			t.Errorf("event of process %d: %d and thread %d in its own namespace, want %d", e.PID, e.NSPID, e.NSTID, own)
		}
	}
	expected := map[int]int{}
	if os.Getenv(nestedEnv) != "" {
		for range 7 {
			next()
		}
		expected[0] = 7
	}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	for range want {
		next()
	}
	expected[cmd.Process.Pid] = want
	if diff := cmp.Diff(expected, seen); diff != "" {
		t.Errorf("events by process (-want +got):\n%s", diff)
	}
}
