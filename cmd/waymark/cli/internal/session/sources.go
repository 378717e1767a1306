package session

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// Sources attaches to the chosen markers by the engines that suit their processes, and to tracepoints of the kernel.
func (s *Session) Sources(how *tracer.TraceOptions, tracepoints []string) (all []*tracer.Tracer, err error) {
	defer func() {
		if err != nil {
			for _, source := range all {
				err = errors.Join(err, source.Close())
			}
			all = nil
		}
	}()
	add := func(t Subject, markers []*tracer.Marker, later *tracer.Later) error {
		options := *how
		options.Later = later
		events, err := tracer.Trace(t.Target(), markers, &options)
		if err != nil {
			return err
		}
		if t.Engine == tracer.EngineAgent {
			s.NoteBuffer(events, how.BufferSize)
		}
		all = append(all, events)
		return nil
	}
	if err := add(s.Subject, s.Markers, s.Later); err != nil {
		return all, err
	}
	if len(s.byAgents) > 0 {
		if err := add(s.agents, s.byAgents, nil); err != nil {
			return all, err
		}
		s.beside = append(s.beside, fmt.Sprintf("%s in %s, through its agent", view.PointsText(s.byAgents), pidsText(s.agents.PIDs)))
	}
	if len(tracepoints) > 0 {
		kernel, err := tracer.TraceKernel(tracepoints, how.BufferSize)
		if err != nil {
			return all, err
		}
		all = append(all, kernel)
		s.beside = append(s.beside, tracepointsText(kernel.Points()))
	}
	return all, nil
}

// UsualBuffer is where events are kept when nobody says how much of them.
const UsualBuffer = 16 << 20

// NoteBuffer says that an agent had room for less than usual.
func (s *Session) NoteBuffer(events *tracer.Tracer, asked int) {
	if n := events.Buffer(); asked == 0 && n > 0 && n < UsualBuffer {
		s.Env.Message("little memory is left where the program runs: its rings have %s, not %s; --buffer asks for a size", view.BytesText(uint64(n)), view.BytesText(UsualBuffer))
	}
}

// ofKernel is what names of the kernel's tracepoints begin with in a trace.
const ofKernel = "kernel:"

// takeKernel returns which of the patterns choose markers, and which tracepoints of the kernel: those that say so, as
// kernel:sched:sched_switch, and those that no marker has and a tracepoint does, as sched:sched_switch. The error is
// that of a pattern which may be one, if the kernel's tracepoints could be seen.
func takeKernel(all []*tracer.Marker, patterns []string) (markers, kernel []string, err error) {
	for _, pattern := range patterns {
		if rest, ok := strings.CutPrefix(pattern, ofKernel); ok && strings.Contains(rest, ":") {
			kernel = append(kernel, rest)
			continue
		}
		if strings.Contains(pattern, ":") && len(Matching(all, []string{pattern})) == 0 {
			var hidden *tracer.PermissionError
			_, err := tracer.KernelTracepoints(pattern)
			if err == nil {
				kernel = append(kernel, pattern)
				continue
			}
			if errors.As(err, &hidden) {
				return nil, nil, noneSeen(all, pattern)
			}
		}
		markers = append(markers, pattern)
	}
	return markers, kernel, nil
}

var errOnlyKernel = errors.New("only tracepoints of the kernel are chosen, and no marker")

// noneSeen is the error of a pattern that no marker has, where the kernel's tracepoints cannot be seen.
func noneSeen(all []*tracer.Marker, pattern string) error {
	hint := "if it is a tracepoint of the kernel, run waymark as root"
	var none *tracer.NoMatchError
	if _, err := tracer.Select(all, []string{pattern}); errors.As(err, &none) {
		hint = explain.NoMatchHint(none) + "; " + hint
	}
	return term.WithHint(fmt.Errorf("no marker matches %q, and tracepoints of the kernel are for root alone", pattern), "%s", hint)
}

// chooseKernel is takeKernel for a recording: the patterns that remain choose among all markers.
func (s *Selection) chooseKernel(all []*tracer.Marker) error {
	if s.Kernel == nil || len(s.Patterns) == 0 {
		return nil
	}
	markers, kernel, err := takeKernel(all, s.Patterns)
	if err != nil {
		return err
	}
	*s.Kernel = append(*s.Kernel, kernel...)
	if len(markers) == 0 {
		return term.WithHint(errOnlyKernel, "add '*', for all markers of %s", s.Named())
	}
	s.Patterns = markers
	return nil
}

// tracepointsText says which tracepoints of the kernel are recorded.
func tracepointsText(points []*event.Point) string {
	const shown = 3
	var names []string
	for _, p := range points {
		names = append(names, p.Name)
	}
	text := term.Plural(len(names), "tracepoint") + " of the kernel"
	if len(names) <= shown {
		text += ", " + term.List(names)
	}
	return text
}

// Circumstances are what the trace says of the session.
func (s *Session) Circumstances() []ctf.EnvEntry {
	env := []ctf.EnvEntry{recording.Text("target", s.named)}
	if info, ok := debug.ReadBuildInfo(); ok {
		env = append(env, recording.Text("tracer_version", info.Main.Version))
	}
	for i, f := range view.Files(append(slices.Clone(s.Markers), s.byAgents...)) {
		env = append(env, recording.Text(fmt.Sprintf("executable_%d", i), f.Path))
		if f.BuildID != "" {
			env = append(env, recording.Text(fmt.Sprintf("build_id_%d", i), f.BuildID))
		}
	}
	for i, pid := range append(slices.Clone(s.Subject.PIDs), s.agents.PIDs...) {
		env = append(env, recording.Number(fmt.Sprintf("pid_%d", i), int64(pid)))
	}
	return env
}
