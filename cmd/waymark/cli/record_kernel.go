package cli

import (
	"errors"
	"strings"

	"github.com/waymark-trace/waymark/tracer"
)

// ofKernel is what names of the kernel's tracepoints begin with in a trace.
const ofKernel = "kernel:"

// takeKernel returns which of the patterns choose markers, and which tracepoints of the kernel: those that say so, as
// kernel:sched:sched_switch, and those that no marker has and a tracepoint does, as sched:sched_switch.
func takeKernel(all []*tracer.Marker, patterns []string) (markers, kernel []string) {
	for _, pattern := range patterns {
		if rest, ok := strings.CutPrefix(pattern, ofKernel); ok && strings.Contains(rest, ":") {
			kernel = append(kernel, rest)
			continue
		}
		if strings.Contains(pattern, ":") && len(matching(all, []string{pattern})) == 0 {
			if _, err := tracer.KernelTracepoints(pattern); err == nil {
				kernel = append(kernel, pattern)
				continue
			}
		}
		markers = append(markers, pattern)
	}
	return markers, kernel
}

var errOnlyKernel = errors.New("only tracepoints of the kernel are chosen, and no marker")

// chooseKernel is takeKernel for a recording: the patterns that remain choose among all markers.
func (s *selection) chooseKernel(all []*tracer.Marker) error {
	if s.kernel == nil || len(s.patterns) == 0 {
		return nil
	}
	markers, kernel := takeKernel(all, s.patterns)
	*s.kernel = append(*s.kernel, kernel...)
	if len(markers) == 0 {
		return withHint(errOnlyKernel, "add '*', for all markers of %s", s.named())
	}
	s.patterns = markers
	return nil
}

// tracepointsText says which tracepoints of the kernel are recorded.
func tracepointsText(markers []*tracer.Marker) string {
	const shown = 3
	var names []string
	for _, m := range markers {
		names = append(names, m.Name)
	}
	text := plural(len(names), "tracepoint") + " of the kernel"
	if len(names) <= shown {
		text += ", " + list(names)
	}
	return text
}
