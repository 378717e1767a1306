package tracer

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"

	"github.com/waymark-trace/waymark/tracer/internal/agentconn"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

func kernelPermitted() error { return model.AttachPermission("attaching") }

// haveAgents reports whether all processes of a target have agents.
func haveAgents(t Target) bool {
	for _, pid := range t.pids {
		a, err := agentconn.Dial(pid)
		if err != nil {
			return false
		}
		a.Close()
	}
	return true
}

// agentFunction is the name of a function that every program with an agent has: in the table by which the
// runtime prints tracebacks, which strip leaves.
const agentFunction = "github.com/waymark-trace/waymark/agent.Auto"

// programHasAgent reports whether an executable has an agent. It is asked before the program is started: one that has
// none would run, untraced, until nobody waits for its agent any longer.
func programHasAgent(name string) bool {
	path, err := exec.LookPath(name)
	if err != nil {
		return false
	}
	f, _, err := model.OpenFile(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return contains(f, agentFunction)
}

// contains reports whether a file has a text in it.
func contains(f *os.File, text string) bool {
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		window, err := r.Peek(1 << 20)
		if bytes.Contains(window, []byte(text)) {
			return true
		}
		if err != nil { // the end, or what cannot be read
			return false
		}
		if _, err := io.CopyN(io.Discard, r, int64(len(window)-len(text))); err != nil {
			return false
		}
	}
}
