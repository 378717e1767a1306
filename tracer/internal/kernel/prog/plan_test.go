package prog

import (
	"debug/elf"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/internal/filter"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/location"
)

func TestRecordPlanRefuses(t *testing.T) {
	for _, test := range []struct {
		size    int
		strings []int
	}{{-1, nil}, {MaxRecord + 1, nil}, {16, []int{8}}, {32, []int{4}}, {32, []int{-8}}, {256, make([]int, 9)}} {
		if _, err := RecordPlan(test.size, test.strings, -1); err == nil {
			t.Errorf("record of %d with strings at %v is accepted", test.size, test.strings)
		}
	}
}

func TestOperandPart(t *testing.T) {
	for operand, want := range map[string]Part{
		"-4@$-9":     {Source: FromValue, Value: Value{Kind: Immediate, Base: noRegister, Index: noRegister, Disp: -9}},
		"1@%ah":      {Source: FromValue, Value: Value{Kind: FromRegister, Size: 1, Shift: 8, Base: 80, Index: noRegister}},
		"-2@8(%rax)": {Source: FromValue, Value: Value{Kind: FromMemory, Size: 2, Signed: true, Base: 80, Index: noRegister, Disp: 8}},
	} {
		o := sdt.ParseOperands(elf.EM_X86_64, operand)[0]
		got, err := OperandPart(elf.EM_X86_64, &o, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", operand, diff)
		}
	}
}

// Sites whose values are computed by equal steps share code, wherever the steps lie in memory.
func TestComputedPlansAreShared(t *testing.T) {
	computed := func(offset int64) Value {
		v, err := ComputedValue(elf.EM_X86_64, location.Program{{Op: location.Register, Arg: 7}, {Op: location.Push, Arg: offset}, {Op: location.Add}, {Op: location.Deref, Arg: 8}}, 8, false)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	plan := func(v Value) *Plan { return &Plan{Goid: -1, Values: []Value{v}, Texts: []Text{{Pointer: v}}} }
	site := func(v Value) *Site {
		return &Site{Key: Key{{Source: FromValue, Value: v}}, Where: &Where{Filter: &filter.Filter{}, Vars: []Part{{Source: FromValue, Value: v}}}}
	}
	if a, b := plan(computed(8)).key(), plan(computed(8)).key(); a != b {
		t.Errorf("equal plans have the keys %s and %s", a, b)
	}
	if a, b := plan(computed(8)).key(), plan(computed(16)).key(); a == b {
		t.Errorf("different plans have the key %s", a)
	}
	if a, b := site(computed(8)).Same(), site(computed(8)).Same(); a != b {
		t.Errorf("equal sites have the keys %s and %s", a, b)
	}
	if a, b := site(computed(8)).Same(), site(computed(16)).Same(); a == b {
		t.Errorf("different sites have the key %s", a)
	}
}
