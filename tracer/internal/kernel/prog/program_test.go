package prog

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"testing"

	"github.com/cilium/ebpf/asm"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/filter"
)

// site returns one with a record, a key of every source, and a condition on a number and two texts.
func site(t *testing.T, machine elf.Machine) *Site {
	t.Helper()
	plan, err := RecordPlan(48, []int{0, 16}, 152)
	if err != nil {
		t.Fatal(err)
	}
	number, err := RecordPart(machine, 32, 4, true, false)
	if err != nil {
		t.Fatal(err)
	}
	text, err := RecordPart(machine, 0, 16, false, true)
	if err != nil {
		t.Fatal(err)
	}
	s := &Site{Plan: plan, Where: &Where{}}
	s.Key = Key{number, text, {Source: FromPID}, {Source: FromTID}, {Source: FromComm}, {Source: FromCPU}, {Source: FromGoroutine, Goid: 152}, {}}
	expr, err := filter.Parse(`(n > 3 || n == -1) && s ~ "GET*" && comm != "server"`)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]struct {
		event.Kind
		Part
	}{"n": {event.Int32, number}, "s": {event.String, text}, "comm": {event.String, Part{Source: FromComm}}}
	s.Where.Filter, err = expr.Bind(func(name string) (event.Kind, error) {
		s.Where.Vars = append(s.Where.Vars, parts[name].Part)
		return parts[name].Kind, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// assembles checks that each jump has a target, each label one place, and that operands fit.
func assembles(t *testing.T, what string, ins asm.Instructions) {
	t.Helper()
	if err := ins.Marshal(io.Discard, binary.LittleEndian); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// Every program can be generated on any machine for any that is supported, whatever the kernel has.
func TestProgramsAssemble(t *testing.T) {
	types := &Types{numberSize: 16}
	cookie := uint64(7)
	for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_AARCH64} {
		s := site(t, machine)
		s.By = s.Key
		layout, err := LayoutOf([]Key{s.Key})
		if err != nil {
			t.Fatal(err)
		}
		for _, pids := range []*Namespace{{}, {Level: 1}, {Level: 1, Types: types}} {
			w := Watch{Set: 11, News: 13, PIDs: &Namespace{Level: pids.Level, Types: types, Raised: true}, Follow: true, Hold: Hold{Tasks: 12, Work: 25}}
			for _, w.Hold.By = range []HoldBy{NoHold, HoldByWork, HoldByReturn} {
				for _, p := range w.RawTracepoints() {
					assembles(t, p.Name, p.Instructions)
				}
			}
			for _, sleepable := range []bool{false, true} {
				assembles(t, "end of execve", w.Returned(sleepable))
				for _, w.Hold.Mapped = range []bool{false, true} {
					assembles(t, "dynamic linker", w.Mapped(sleepable))
				}
			}
			for _, m := range []Means{{}, {Sleepable: true, Exchange: true}, {Cookie: &cookie}} {
				base, err := NewBase(machine)
				if err != nil {
					t.Fatal(err)
				}
				base.Admit, base.Patterns, base.PIDs, base.Switch = w.Admit(), 14, pids, &Switch{Map: 24, Number: 3}
				what := func(name string) string { return fmt.Sprintf("%s for %v with %+v at %+v", name, machine, m, pids) }
				assembles(t, what("count"), base.Count(s, m, 15))
				assembles(t, what("count by key"), base.CountBy(s, m, KeyMaps{Layout: layout, Keys: 16, Others: 17, First: 1}))
				for _, s.End = range []bool{false, true} {
					assembles(t, what("latency"), base.Latency(s, m, PairMaps{Layout: layout, Kept: 18, Open: 19, State: 20}))
					assembles(t, what("latency by group"), base.Latency(s, m, PairMaps{
						Layout: layout, Open: 19, State: 20, Groups: &GroupMaps{Layout: layout, States: 21, Zero: 22},
					}))
				}
				packer := NewPacker(base, Events{Ring: 21, Missed: 22, MaxString: 256, OwnPIDs: types})
				packer.Add(s)
				assembles(t, what("trace"), packer.Assemble(0, m))
			}
			point := Tracepoint{Group: "sched", Name: "sched_switch", Size: 64, Located: []int{8, 12}}
			ins, err := point.Program(0, 23, 24, w.PIDs)
			if err != nil {
				t.Fatal(err)
			}
			assembles(t, "kernel tracepoint", ins)
		}
	}
	if _, err := NewBase(elf.EM_386); err == nil {
		t.Error("programs for a machine whose registers are not known")
	}
}

// Sites with equal plans share code, and no program is longer than its jumps reach.
func TestPackerFillsPrograms(t *testing.T) {
	base, err := NewBase(elf.EM_X86_64)
	if err != nil {
		t.Fatal(err)
	}
	base.PIDs = &Namespace{}
	p := NewPacker(base, Events{MaxString: 256})
	const plans = 2000
	last := 0
	for range 2 {
		for i := range plans {
			s := &Site{Plan: &Plan{Goid: -1, Values: []Value{{Kind: FromMemory, Size: 8, Base: 80, Index: noRegister, Disp: int64(i)}}}}
			program, _ := p.Add(s)
			last = max(last, program)
		}
	}
	total := 0
	for i := range last + 1 {
		ins := p.Assemble(i, Means{})
		assembles(t, fmt.Sprintf("program %d", i), ins)
		if n := len(ins); n > maxProgram+100 {
			t.Errorf("program %d has %d instructions", i, n)
		}
		total += len(p.programs[i])
	}
	if last == 0 || total != plans {
		t.Errorf("%d programs with %d pieces for %d plans", last+1, total, plans)
	}
}

// FuzzTracepointEvent reads arbitrary bytes as an event of a kernel tracepoint.
func FuzzTracepointEvent(f *testing.F) {
	points := []Tracepoint{{Size: 16, Located: []int{0, 12}}, {}}
	f.Add(make([]byte, 24))
	f.Add(make([]byte, points[0].located()+2*LocatedBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		var e TracepointEvent
		if e.Decode(points, b) == nil && len(e.Located) != len(points[e.Index].Located) {
			t.Errorf("%d values of event %+v", len(e.Located), e)
		}
	})
}
