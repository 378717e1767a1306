package main

import (
	"cmp"
	"debug/elf"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// code disassembles one function in each of its states, as it is in the memory of a running process.
func code(c config) ([]result, error) {
	if !canLink {
		return []result{skipped("all", "link is for linux/amd64")}, nil
	}
	return withSubjects(func(s *subjects) ([]result, error) {
		var all []result
		for _, state := range []struct {
			name string
			in   *subject
			arm  bool
		}{
			{"generic", s.generic, false},
			{"optimized, off", s.optimized, false},
			{"optimized, on", s.optimized, true},
		} {
			if state.arm {
				if err := state.in.do("arm open"); err != nil {
					return nil, err
				}
			}
			text, err := disassemble(state.in, "main.open")
			if err != nil {
				return nil, fmt.Errorf("%s: %w", state.name, err)
			}
			all = append(all, result{Case: state.name, Text: text})
		}
		return all, nil
	})
}

// disassemble returns the instructions that a function of a running process, which is no PIE, has now.
func disassemble(in *subject, function string) (string, error) {
	f, err := elf.Open(in.path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return "", err
	}
	slices.SortFunc(symbols, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	var fn elf.Symbol
	for _, s := range symbols {
		if s.Name == function {
			fn = s
		}
	}
	if fn.Size == 0 {
		return "", fmt.Errorf("%s has no function %s", in.path, function)
	}
	mem, err := os.Open("/proc/" + in.pid() + "/mem")
	if err != nil {
		return "", err
	}
	defer mem.Close()
	text := make([]byte, fn.Size)
	if _, err := mem.ReadAt(text, int64(fn.Value)); err != nil {
		return "", err
	}
	lookup := func(addr uint64) (string, uint64) {
		i := sort.Search(len(symbols), func(i int) bool { return symbols[i].Value > addr }) - 1
		for ; i >= 0; i-- { // of what lies there, what has a size
			if s := symbols[i]; addr-s.Value < s.Size {
				return short(s.Name), s.Value
			} else if addr-s.Value > 1<<20 {
				break
			}
		}
		return "", 0
	}
	var b strings.Builder
	for at := 0; at < len(text); {
		in, err := x86asm.Decode(text[at:], 64)
		if err != nil {
			return "", fmt.Errorf("%s+%d: %w", function, at, err)
		}
		pc := fn.Value + uint64(at)
		line := strings.TrimSpace(x86asm.GNUSyntax(in, pc, lookup))
		if rel, ok := in.Args[0].(x86asm.Rel); ok {
			if to := at + in.Len + int(rel); to > 0 && to < len(text) {
				line = strings.Fields(line)[0] + fmt.Sprintf(" %x", to)
			}
		}
		fmt.Fprintf(&b, "%4x: %-24s %s\n", at, fmt.Sprintf("% x", text[at:at+in.Len]), line)
		at += in.Len
	}
	return b.String(), nil
}

// short leaves out of a function's name the path of its package and what its types are.
func short(name string) string {
	if i := strings.IndexByte(name, '['); i >= 0 {
		if j := strings.LastIndexByte(name, ']'); j > i {
			name = name[:i] + "[…]" + name[j+1:]
		}
	}
	return name[strings.LastIndexByte(name, '/')+1:]
}
