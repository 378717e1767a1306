package tracer

import "fmt"

// Engine is what looks at the markers of a target.
type Engine uint8

const (
	// EngineAuto is the agent's for processes that all have agents, where this process may not use the kernel's, or
	// where the kernel's sees no markers in the processes; else the kernel's, whose errors then say what is missing.
	EngineAuto Engine = iota
	// EngineKernel is uprobes and eBPF: any program with SDT markers, whether it helps or not. It needs privilege.
	EngineKernel
	// EngineAgent is the agent in a Go program that imports package agent. It needs no privilege but to be
	// of the same user, is an order of magnitude faster, and needs no waymark link.
	EngineAgent
)

func (e Engine) String() string {
	switch e {
	case EngineAuto:
		return "auto"
	case EngineKernel:
		return "kernel"
	case EngineAgent:
		return "agent"
	}
	return fmt.Sprintf("Engine(%d)", uint8(e))
}
