package prog

import (
	"debug/elf"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/sdt"
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
