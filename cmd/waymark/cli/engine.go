package cli

import (
	"errors"

	"github.com/waymark-trace/waymark/tracer"
)

// engineFlag is --engine.
type engineFlag string

const (
	engineAuto   engineFlag = "auto"
	engineKernel engineFlag = "kernel"
	engineAgent  engineFlag = "agent"
)

func (f *engineFlag) Type() string { return "ENGINE" }
func (f *engineFlag) String() string {
	if *f == "" {
		return string(engineAuto)
	}
	return string(*f)
}

func (f *engineFlag) Set(text string) error {
	switch e := engineFlag(text); e {
	case engineAuto, engineKernel, engineAgent:
		*f = e
		return nil
	}
	return errors.New("there is kernel, agent and auto: the kernel where that is permitted, else the program's agent")
}

const engineUsage = "who looks: `kernel`, agent (of a Go program), or auto"

// choose returns the engine for a target.
func (f engineFlag) choose(t tracer.Target) (tracer.Engine, error) {
	switch f {
	case engineKernel:
		return tracer.EngineKernel, nil
	case engineAgent:
		return tracer.EngineAgent, nil
	}
	t.Follow = t.Follow && len(t.Command) == 0 // a command is followed once it is a process
	return tracer.ChooseEngine(t)
}

// agentHint says how a program gets an agent.
const agentHint = "a Go program has one that imports github.com/waymark-trace/waymark/agent/auto, unless WAYMARK_AGENT=0 is in its environment"
