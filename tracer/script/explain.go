package script

import (
	"fmt"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
)

var builtinNames = []string{"pid", "tid", "cpu", "comm", "goid", "nsecs", "elapsed", "probe", "probetype"}

// Explain describes the program: its probes with what they read, and its maps with their types.
func (p *Program) Explain() string {
	var b strings.Builder
	fmt.Fprintf(&b, "language: %s\n", Manual)
	for _, probe := range p.ir.Probes {
		fmt.Fprintf(&b, "probe %s", probe.Name)
		if probe.Kind == ir.Interval {
			fmt.Fprintf(&b, ", every %v", time.Duration(probe.Period))
		}
		var reads []string
		for _, i := range probe.Code.Fields {
			f := &probe.Points[0].Fields[i]
			reads = append(reads, fmt.Sprintf("args.%s (%s)", f.Name, f.Kind))
		}
		for i, name := range builtinNames {
			if probe.Code.Builtins&(1<<i) != 0 {
				reads = append(reads, name)
			}
		}
		if len(reads) > 0 {
			fmt.Fprintf(&b, ": reads %s", strings.Join(reads, ", "))
		}
		b.WriteByte('\n')
	}
	for _, m := range p.ir.Maps {
		fmt.Fprintf(&b, "map %s", m.Name)
		if !m.Scalar() {
			fmt.Fprintf(&b, "[%s]", strings.Trim(m.Key.String(), "()"))
		}
		fmt.Fprintf(&b, ": %s", m.Value)
		if !m.Scalar() {
			fmt.Fprintf(&b, ", at most %d keys", m.MaxKeys)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
