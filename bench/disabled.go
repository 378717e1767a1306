package main

const disabledRounds = 250

// Bodies of loops, in the order of the table: the loop without markers, and with.
var disabledLoops = []struct {
	name, loop string
	to         string // the loop without
	plain      bool   // has no markers: measured in one process only
	cold       bool
	goOnly     bool
}{
	{name: "empty loop", loop: "empty", plain: true},
	{name: "empty loop, 1 marker", loop: "empty1", to: "empty loop"},
	{name: "empty loop, 8 markers", loop: "empty8", to: "empty loop"},
	{name: "copy 4096", loop: "whole", plain: true},
	{name: "copy 4096, 1 marker", loop: "whole1", to: "copy 4096"},
	{name: "copy 8 × 512", loop: "parts", plain: true},
	{name: "copy 8 × 512, 8 markers", loop: "parts8", to: "copy 8 × 512"},
	{name: "8 steps of work", loop: "work", plain: true, goOnly: true},
	{name: "8 steps of work, 8 markers", loop: "work8", to: "8 steps of work", goOnly: true},
	{name: "cold: nothing", loop: "coldEmpty", plain: true, cold: true},
	{name: "cold: 1 marker", loop: "coldEmpty1", to: "cold: nothing", cold: true},
	{name: "cold: 8 markers", loop: "coldEmpty8", to: "cold: nothing", cold: true},
	{name: "cold: copy 8 × 512", loop: "coldParts", plain: true, cold: true},
	{name: "cold: copy 8 × 512, 8 markers", loop: "coldParts8", to: "cold: copy 8 × 512", cold: true},
}

// disabled measures markers that nobody looks at, generic and optimized, what the code around them costs, and those of C.
func disabled(c config) ([]result, error) {
	return withSubjects(func(s *subjects) ([]result, error) {
		var loops []*loop
		for _, d := range disabledLoops {
			if d.cold && !canLink {
				continue
			}
			for _, p := range append(s.all(), s.blank) {
				switch {
				case p == nil, p == s.blank && d.cold:
				case !d.plain:
					loops = append(loops, &loop{name: d.name + ", " + p.kind, in: p, loop: d.loop, to: d.to, over: d.to, slow: d.cold})
				case p == s.generic:
					loops = append(loops, &loop{name: d.name, in: p, loop: d.loop, slow: d.cold})
				}
			}
		}
		more, missing, done := cPeers(s.dir)
		defer done()
		loops = append(loops, more...)
		if err := interleave(c, disabledRounds, loops); err != nil {
			return nil, err
		}
		all, err := results(loops)
		all = append(all, measured("time stamp counter", s.generic.hz/1e9, "GHz"))
		return append(all, missing...), err
	})
}
