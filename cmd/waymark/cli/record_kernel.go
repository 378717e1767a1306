package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer"
)

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
		if strings.Contains(pattern, ":") && len(matching(all, []string{pattern})) == 0 {
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
func (s *selection) chooseKernel(all []*tracer.Marker) error {
	if s.kernel == nil || len(s.patterns) == 0 {
		return nil
	}
	markers, kernel, err := takeKernel(all, s.patterns)
	if err != nil {
		return err
	}
	*s.kernel = append(*s.kernel, kernel...)
	if len(markers) == 0 {
		return term.WithHint(errOnlyKernel, "add '*', for all markers of %s", s.named())
	}
	s.patterns = markers
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
