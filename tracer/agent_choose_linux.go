package tracer

import (
	"context"
	"errors"
)

func kernelPermitted() error { return attachPermission("attaching") }

func chooseEngine(t Target) (Engine, error) {
	kernel := kernelPermitted()
	if len(t.Command) > 0 { // whether it has an agent is known when it runs
		if kernel != nil {
			return EngineAgent, nil
		}
		return EngineKernel, nil
	}
	if kernel == nil {
		if len(t.pids()) == 0 {
			return EngineKernel, nil
		}
		if markers, err := find(context.Background(), t); err != nil || len(markers) > 0 {
			return EngineKernel, nil // whatever is wrong is said when it is looked at
		}
	}
	if err := haveAgents(t); err != nil {
		if kernel == nil {
			return EngineKernel, nil
		}
		return EngineKernel, &needsAgent{kernel, err}
	}
	return EngineAgent, nil
}

// haveAgents reports whether all processes of a target have agents.
func haveAgents(t Target) error {
	if len(t.pids()) == 0 {
		return errors.New("an agent is that of a process, by -p PID or -- COMMAND")
	}
	for _, pid := range t.pids() {
		a, err := dialAgent(pid)
		if err != nil {
			return err
		}
		a.close()
	}
	return nil
}
