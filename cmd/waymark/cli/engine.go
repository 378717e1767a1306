package cli

import (
	"context"
	"errors"
	"slices"

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
func (f engineFlag) choose(s subject) (tracer.Engine, error) {
	switch f {
	case engineKernel:
		return tracer.EngineKernel, nil
	case engineAgent:
		return tracer.EngineAgent, nil
	}
	if len(s.Command) > 0 {
		return tracer.EngineAuto, nil // tracer.Start chooses
	}
	return s.target().By(tracer.EngineAuto).Engine()
}

// orAgent has processes looked at through their agents where nobody says by whom, and a pattern chooses a tracepoint, of
// which the kernel's engine knows nothing, and the agents know what the others choose, too. all is what the
// kernel's engine sees; it returns what is seen then.
func (s *session) orAgent(ctx context.Context, sel *selection, all []*tracer.Marker) []*tracer.Marker {
	unseen := func(p string) bool { return len(matching(all, []string{p})) == 0 }
	if sel.engine != "" && sel.engine != engineAuto || s.target.Engine != tracer.EngineKernel || s.target.Follow ||
		len(s.target.PIDs) == 0 || len(s.agents.PIDs) > 0 || !slices.ContainsFunc(sel.patterns, unseen) {
		return all
	}
	target := s.target
	target.Engine = tracer.EngineAgent
	of, err := target.find(ctx)
	if err != nil {
		return all // there is none, or it tells nothing
	}
	wanted := false
	for _, p := range sel.patterns {
		chosen := matching(of, []string{p})
		switch {
		case !unseen(p) && len(chosen) == 0:
			return all
		case unseen(p):
			wanted = wanted || slices.ContainsFunc(chosen, func(m *tracer.Marker) bool { return m.Tracepoint })
		}
	}
	if !wanted {
		return all
	}
	s.target, s.later = target, nil
	return of
}

// agentHint says how a program gets an agent.
const agentHint = "a Go program has one that imports github.com/waymark-trace/waymark/agent/auto, unless WAYMARK_AGENT=0 is in its environment"
