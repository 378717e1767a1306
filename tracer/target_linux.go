package tracer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/waymark-trace/waymark/tracer/internal/agentconn"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// find looks at a target with an engine that is known.
func find(ctx context.Context, t Target) ([]*Marker, error) {
	switch {
	case t.engine == EngineAgent && len(t.pids) == 0:
		return nil, errNoProcesses
	case t.engine == EngineAgent:
		agents, err := agentconn.DialAll(ctx, t.pids)
		if err != nil {
			return nil, err
		}
		defer agents.Close()
		return agents.Find(ctx)
	case len(t.pids) > 0:
		return model.FindPIDs(ctx, t.pids, t.names)
	}
	return model.FindPath(t.path, t.names)
}

// chooseEngine finds out which engine EngineAuto is for a target, and returns what that one finds. It connects to the
// agents once at most.
func chooseEngine(ctx context.Context, t Target) (Target, []*Marker, error) {
	kernel, agent := t.By(EngineKernel), t.By(EngineAgent)
	permitted := kernelPermitted() == nil
	var markers []*Marker
	var err error
	if permitted || len(t.pids) == 0 {
		if markers, err = find(ctx, kernel); err != nil || len(markers) > 0 || len(t.pids) == 0 {
			return kernel, markers, err
		}
	}
	agents, none := agentconn.DialAll(ctx, t.pids)
	if none == nil {
		defer agents.Close()
		markers, err = agents.Find(ctx)
		return agent, markers, err
	}
	if !permitted {
		markers, err = find(ctx, kernel)
	}
	return kernel, markers, err
}

var errNoProcesses = errors.New("the agent engine looks at processes: by -p PID or -- COMMAND")

// checkAgent reports whether what was asked for can be done by agents at all.
func checkAgent(t Target, markers []*Marker) error {
	if t.follow {
		return model.NotByAgent("following children of a process")
	}
	if len(t.pids) == 0 {
		return errNoProcesses
	}
	if len(markers) == 0 {
		return errors.New("attaching: no markers are selected")
	}
	for _, m := range markers {
		if model.Declared(m) == "" {
			return fmt.Errorf("%s was not found through an agent: give Find and this the same Target", m.FullName())
		}
	}
	return nil
}

func kernelPermitted() error { return model.AttachPermission("attaching") }

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
