package tracer

import "fmt"

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

// ChooseEngine returns the engine with which a target is best looked at here: the agent's for processes that all have
// agents, and for a command that has one, where this process may not use the kernel's, or where the kernel's sees no
// markers in the processes; else the kernel's, of which the error says then what is missing.
func ChooseEngine(t Target) (Engine, error) {
	if err := t.check(); err != nil {
		return EngineKernel, err
	}
	return chooseEngine(t), nil
}
