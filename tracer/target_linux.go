package tracer

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/waymark-trace/waymark/tracer/internal/agentconn"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

func find(ctx context.Context, t Target) ([]*Marker, error) {
	switch {
	case t.Engine == EngineAgent && len(t.pids()) == 0:
		return nil, errNoProcesses
	case t.Engine == EngineAgent:
		return agentconn.Find(ctx, t.pids())
	case len(t.pids()) > 0:
		return model.FindPIDs(ctx, t.pids(), t.Outline)
	case t.Path != "":
		return model.FindPath(t.Path, t.Outline)
	}
	path, err := exec.LookPath(t.Command[0])
	if err != nil {
		return nil, err
	}
	return model.FindPath(path, t.Outline)
}

var errNoProcesses = errors.New("the agent engine looks at processes: by -p PID or -- COMMAND")

// checkAgent reports whether what was asked for can be done by agents at all.
func checkAgent(t Target, markers []*Marker) error {
	if t.Follow {
		return fmt.Errorf("following children of a process: %w", ErrNotByAgent)
	}
	if len(t.pids()) == 0 {
		return errNoProcesses
	}
	if len(markers) == 0 {
		return errors.New("attaching: no markers are selected")
	}
	for _, m := range markers {
		if model.Declared(m) == "" {
			return fmt.Errorf("%s was not found through an agent: give Find and this the same Target.Engine", m.FullName())
		}
	}
	return nil
}
