package main

import "runtime"

const enabledRounds = 101

const (
	emptyName  = "empty loop"
	offName    = "marker, off"
	typedName  = "marker, empty typed probe"
	namedName  = "marker, empty probe by name"
	atomicName = "atomic counter"
)

// ways are the ways of connecting a probe, and what else a program can say where it is by, each on
// and off. Those that pass markers are measured generic and optimized.
var ways = []struct {
	name, loop, arm string
	to              string
	markers         bool // has sites: measured in both processes
	during          bool // armed only while it is measured
}{
	{name: emptyName, loop: "empty"},
	{name: offName, loop: "empty1", to: emptyName, markers: true},
	{name: "marker, armed without a probe", loop: "lone", arm: "lone", to: offName, markers: true},
	{name: typedName, loop: "typed", arm: "typed", to: offName, markers: true},
	{name: "marker, typed probe that saves", loop: "saving", arm: "saving", to: typedName, markers: true},
	{name: "marker, 2 empty typed probes", loop: "two", arm: "two", to: typedName, markers: true},
	{name: "marker, 4 empty typed probes", loop: "four", arm: "four", to: typedName, markers: true},
	{name: namedName, loop: "named", arm: "named", to: typedName, markers: true},
	{name: "marker, probe by name that saves", loop: "namedSave", arm: "namedSave", to: namedName, markers: true},
	{name: "marker, probe by name that parses the format", loop: "parsing", arm: "parsing", to: namedName, markers: true},
	{name: "marker, probe by name that prints", loop: "printing", arm: "printing", to: namedName, markers: true},
	{name: "static key around a call", loop: "keyCall", arm: "keyCall", to: typedName, markers: true},
	{name: "static key around a variadic call", loop: "keyBoxed", arm: "keyBoxed", to: namedName, markers: true},
	{name: "tracepoint, off", loop: "pointOff", to: offName, markers: true},
	{name: "tracepoint, empty probe", loop: "point", arm: "point", to: typedName, markers: true},
	{name: "static key, off", loop: "keyOff", to: offName, markers: true},
	{name: "static key, on", loop: "keyOn", to: offName, markers: true},

	{name: atomicName, loop: "atomic", to: typedName},
	{name: "slog, level off", loop: "slogOff", to: offName},
	{name: "slog, text", loop: "slogText", to: typedName},
	{name: "slog, JSON", loop: "slogJSON", to: typedName},
	{name: "runtime/trace.Log, off", loop: "trace", to: offName},
	{name: "runtime/trace.Log, on", loop: "trace", arm: "runtimeTrace", to: typedName, during: true},
	{name: "OpenTelemetry event, off", loop: "spanOff", to: offName},
	{name: "OpenTelemetry event, off and guarded", loop: "spanGuarded", to: offName},
	{name: "OpenTelemetry event, recording", loop: "spanOn", to: typedName},
}

// enabled measures markers with probes in their own process, and what else says where a program is.
func enabled(c config) ([]result, error) {
	return withSubjects(func(s *subjects) ([]result, error) {
		var loops []*loop
		var few []result
		hasSites := make(map[string]bool)
		for _, w := range ways {
			hasSites[w.name] = w.markers
			for _, p := range s.all() {
				if !w.markers && p != s.generic {
					continue
				}
				l := &loop{name: w.name, in: p, loop: w.loop, to: w.to, over: emptyName, allocs: w.loop != "empty"}
				if w.markers {
					l.name += ", " + p.kind
				}
				if hasSites[w.to] {
					l.to += ", " + p.kind
				}
				switch {
				case w.loop == "empty":
					l.over = ""
				case w.during:
					l.during = w.arm
				case w.arm != "":
					if err := p.do("arm " + w.arm); err != nil {
						return nil, err
					}
				}
				loops = append(loops, l)
			}
		}
		for _, w := range ways {
			if w.loop != "typed" && w.loop != "atomic" {
				continue
			}
			if runtime.NumCPU() < 2 {
				few = append(few, skipped(w.name+", 2 pinned threads", "one CPU"))
				continue
			}
			one, two := w.name+", 1 pinned thread", w.name+", 2 pinned threads"
			loops = append(loops, &loop{name: one, in: s.generic, loop: w.loop}, &loop{name: two, in: s.generic, loop: w.loop, both: true, to: one})
		}
		if err := interleave(c, enabledRounds, loops); err != nil {
			return nil, err
		}
		all, err := results(loops)
		return append(all, few...), err
	})
}
