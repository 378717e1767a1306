package agent

import (
	"github.com/waymark-trace/waymark/internal/shm/wire"
	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/statickey"
	"github.com/waymark-trace/waymark/tracepoint"
)

// allPoints returns the program's points for a client. Package introspect knows more about them, but
// depends on a web server and on readers of executables, which clients have themselves.
func allPoints() []wire.Point {
	var all []wire.Point
	for _, m := range marker.All() {
		if m.Pending {
			continue
		}
		all = append(all, wire.Point{
			Kind: wire.Marker, Name: m.Name, Format: m.Format, Armed: m.Armed, Kernel: m.Kernel,
			Probes: m.Probes, Hits: m.Hits, Problem: problemText(m.Err), Fields: m.Fields,
		})
	}
	for _, t := range tracepoint.All() {
		all = append(all, wire.Point{
			Kind: wire.Tracepoint, Name: t.Name, Armed: t.Armed, Probes: t.Probes, Hits: t.Hits, Problem: problemText(t.Err),
			Fields: t.Fields,
		})
	}
	for _, k := range statickey.All() {
		all = append(all, wire.Point{Kind: wire.Key, Name: k.Name, Armed: k.Enabled})
	}
	return all[:min(len(all), wire.MaxPoints)]
}

func problemText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
