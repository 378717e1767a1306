package main

import (
	"context"
	"debug/elf"
	"fmt"
	"time"

	"github.com/waymark-trace/waymark/tracer"
)

const uprobeRounds = 101

// uprobes measures one point under a probe in the process and under the kernel's, and LTTng-UST.
func uprobes(c config) ([]result, error) {
	return withSubjects(func(s *subjects) (all []result, err error) {
		loops := []*loop{
			{name: emptyName, in: s.generic, loop: "empty"},
			{name: "marker, off", in: s.generic, loop: "empty1", over: emptyName},
		}
		if err := s.generic.do("arm typed"); err != nil {
			return nil, err
		}
		loops = append(loops, &loop{name: typedName, in: s.generic, loop: "typed", over: emptyName})
		for _, u := range []struct {
			name, loop string
			place      func() (offset, counter uint64, err error)
			in         *subject
		}{
			{"marker, optimized uprobe, generic", "lone", func() (uint64, uint64, error) { return stubOf(s.generic.path, "bench:lone") }, s.generic},
			{"marker, optimized uprobe, optimized", "lone", func() (uint64, uint64, error) { return stubOf(s.optimized.path, "bench:lone") }, s.optimized},
			{"call of a 1-byte nop, int3 uprobe", "oneByte", func() (uint64, uint64, error) { return textOffset(s.generic.path, "main.oneByte.abi0") }, s.generic},
			{"call of xor, single-stepped uprobe", "stepped", func() (uint64, uint64, error) { return textOffset(s.generic.path, "main.stepped.abi0") }, s.generic},
		} {
			if !canLink {
				all = append(all, skipped(u.name, "uprobes on markers are for linux/amd64"))
				continue
			}
			offset, counter, err := u.place()
			if err != nil {
				return nil, err
			}
			undo, err := countUprobe(u.in.cmd.Process.Pid, u.in.path, offset, counter)
			if err != nil {
				all = append(all, skipped(u.name, "%v", err))
				continue
			}
			defer undo()
			loops = append(loops, &loop{name: u.name, in: u.in, loop: u.loop, to: typedName, over: emptyName})
		}
		time.Sleep(settling) // an optimized program looks at its counters every 100 ms
		f := &cForms[len(cForms)-1]
		if ust, err := f.start(s.dir); err != nil {
			all = append(all, skipped(f.kind+", recording", "%v", firstLine(err)))
		} else {
			defer ust.target.stop()
			undo, err := recordUST(s.dir)
			if err != nil {
				all = append(all, skipped(f.kind+", recording", "%v", firstLine(err)))
			} else {
				defer undo()
				time.Sleep(settling) // the daemon tells the program
				loops = append(loops, &loop{name: "empty loop, C", in: ust, loop: "empty"},
					&loop{name: f.kind + ", recording", in: ust, loop: "empty1", to: typedName, over: "empty loop, C"})
			}
		}
		if err := interleave(c, uprobeRounds, loops); err != nil {
			return nil, err
		}
		measured, err := results(loops)
		return append(measured, all...), err
	})
}

// stubOf returns where in a linked file the marker's stub and its reference counter are.
func stubOf(path, name string) (offset, counter uint64, err error) {
	markers, err := tracer.Find(context.Background(), tracer.Path(path))
	if err == nil {
		markers, err = tracer.Select(markers, []string{name})
	}
	if err != nil {
		return 0, 0, err
	}
	site := markers[0].Sites[0]
	return uint64(site.Offset), uint64(site.CounterOffset), nil
}

// textOffset returns where in a file a function is.
func textOffset(path, function string) (offset, counter uint64, err error) {
	f, err := elf.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	s, err := symbol(f, function)
	if err != nil {
		return 0, 0, err
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && s.Value >= p.Vaddr && s.Value < p.Vaddr+p.Filesz {
			return s.Value - p.Vaddr + p.Off, 0, nil
		}
	}
	return 0, 0, fmt.Errorf("%s: %s is in no segment", path, function)
}

func symbol(f *elf.File, name string) (elf.Symbol, error) {
	symbols, err := f.Symbols()
	if err != nil {
		return elf.Symbol{}, err
	}
	for _, s := range symbols {
		if s.Name == name {
			return s, nil
		}
	}
	return elf.Symbol{}, fmt.Errorf("no function %s", name)
}
