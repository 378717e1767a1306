package tracer

import (
	"errors"
	"fmt"
)

// Engine says who looks at the markers of a target.
type Engine uint8

const (
	// EngineKernel is uprobes and eBPF: any program with SDT markers, whether it helps or not. It needs privilege.
	EngineKernel Engine = iota
	// EngineAgent is the agent in a Go program that imports package agent. It needs no privilege but to be
	// of the same user, is an order of magnitude faster, and needs no waymark link.
	EngineAgent
)

func (e Engine) String() string {
	switch e {
	case EngineKernel:
		return "kernel"
	case EngineAgent:
		return "agent"
	}
	return fmt.Sprintf("Engine(%d)", uint8(e))
}

// ErrNoAgent says that a process has no agent that listens.
var ErrNoAgent = errors.New("no agent listens in it")

// ChooseEngine returns the engine with which a target can be looked at here: the kernel's where this
// process may use it and the target has markers that it sees, else the agent's if every process of the target has one.
// The error says why it is neither; it is the kernel's, and wraps ErrNoAgent.
func ChooseEngine(t Target) (Engine, error) {
	if err := t.check(); err != nil {
		return EngineKernel, err
	}
	return chooseEngine(t)
}

// KernelPermitted returns nil if this process may use the kernel's engine at all, else why not.
func KernelPermitted() error { return kernelPermitted() }

// needsAgent is the kernel engine's error where an agent would do.
type needsAgent struct{ kernel, agent error }

func (e *needsAgent) Error() string {
	return fmt.Sprintf("%v; and %v", e.kernel, e.agent)
}

func (e *needsAgent) Unwrap() []error { return []error{e.kernel, e.agent} }
