package variable

import (
	"slices"
	"testing"
)

// function is the code of one: which instructions there are, each a byte, and what they do.
type function struct {
	jumps  [][2]uint64
	ends   []uint64 // instructions that the next one is not behind
	writes map[uint64]uint
	copies map[uint64]uint  // of a register
	values map[uint64]int64 // of none
}

func (f *function) Into(low, high uint64, visit func(from uint64) bool) {
	for _, j := range f.jumps {
		if low <= j[1] && j[1] < high && !visit(j[0]) {
			return
		}
	}
}

func (f *function) Before(address uint64) (uint64, bool) {
	return address - 1, address > 0 && !slices.Contains(f.ends, address-1)
}

func (f *function) Writes(register uint, low, high uint64) bool {
	for at, r := range f.writes {
		if r == register && low <= at && at <= high {
			return true
		}
	}
	return false
}

func (f *function) Loaded(register uint, until uint64) (from uint, value int64, ok bool) {
	for at := int64(until); at >= 0; at-- {
		if r, writes := f.writes[uint64(at)]; writes && r == register {
			if from, ok = f.copies[uint64(at)]; ok {
				return from, 0, true
			}
			value, ok = f.values[uint64(at)]
			return 16, value, ok
		}
	}
	return 0, 0, false
}

func (f *function) Repeats(address uint64) bool {
	return slices.ContainsFunc(f.jumps, func(j [2]uint64) bool { return j[1] <= address && address <= j[0] })
}

// Lists that gcc wrote, and what their code says of them.
func TestContradiction(t *testing.T) {
	const rax, rsi, rdi = 0, 4, 5
	in := func(register uint) []byte { return []byte{byte(opReg0 + register)} }
	value := func(n byte) []byte { return []byte{opLit0 + n, opStackValue} }
	entryValue := []byte{0xa3, 1, opReg0 + rdi, opStackValue}
	at := func(from uint64, fromView int, to uint64, toView int, expr []byte) entry {
		return entry{bounds{point{address: from, view: fromView}, point{address: to, view: toView}}, expr}
	}
	for _, test := range []struct {
		name string
		list []entry
		code function
		at   uint64
		view int
		want bool
	}{
		{"one location", []entry{at(0, 0, 9, 0, in(rsi))}, function{jumps: [][2]uint64{{8, 2}}}, 4, 0, false},
		{"assigned behind the loop, and told in it",
			[]entry{at(0, 0, 4, 0, in(rsi)), at(4, 0, 7, 0, in(rsi)), at(7, 0, 10, 0, value(12))},
			function{jumps: [][2]uint64{{8, 4}}, writes: map[uint64]uint{9: rsi}}, 5, 0, true},
		{"the same, assigned in it",
			[]entry{at(0, 0, 4, 0, in(rsi)), at(4, 0, 7, 0, in(rsi)), at(7, 0, 10, 0, value(12))},
			function{jumps: [][2]uint64{{8, 4}}, writes: map[uint64]uint{7: rsi}}, 5, 0, false},
		{"a value of which the register was taken", []entry{at(0, 0, 3, 0, in(rsi)), at(3, 0, 5, 0, entryValue), at(5, 0, 9, 0, in(rsi))},
			function{writes: map[uint64]uint{2: rsi}}, 6, 0, true},
		{"loaded with its first value ahead of the statement", []entry{at(2, 1, 5, 0, value(0)), at(5, 0, 9, 0, in(rax))},
			function{writes: map[uint64]uint{1: rax}, values: map[uint64]int64{1: 0}, jumps: [][2]uint64{{8, 5}}}, 6, 0, false},
		{"loaded with another", []entry{at(2, 1, 5, 0, value(0)), at(5, 0, 9, 0, in(rax))},
			function{writes: map[uint64]uint{1: rax}, values: map[uint64]int64{1: 3}}, 6, 0, true},
		{"copied ahead of the statement", []entry{at(2, 1, 5, 0, in(rdi)), at(5, 0, 9, 0, in(rax))},
			function{writes: map[uint64]uint{1: rax}, copies: map[uint64]uint{1: rdi}}, 6, 0, false},
		{"copied while it was elsewhere first", []entry{at(0, 0, 3, 0, in(rdi)), at(3, 0, 4, 0, value(1)), at(4, 1, 5, 0, in(rdi)), at(5, 0, 9, 0, in(rax))},
			function{writes: map[uint64]uint{1: rax}}, 6, 0, false},
		{"a constant that another way does not have", []entry{at(0, 1, 3, 0, value(2)), at(3, 1, 6, 0, value(1)), at(20, 1, 30, 0, value(0))},
			function{jumps: [][2]uint64{{22, 4}}}, 5, 0, true},
		{"a constant that a statement assigns", []entry{at(0, 1, 3, 0, value(2)), at(3, 1, 6, 0, value(1)), at(20, 1, 30, 0, value(0))},
			function{jumps: [][2]uint64{{22, 3}}}, 5, 0, false},
		{"back at one address", []entry{at(0, 0, 4, 3, in(rdi)), at(4, 3, 4, 5, value(3)), at(4, 5, 9, 0, in(rdi))}, function{}, 4, 5, true},
		{"not back yet", []entry{at(0, 0, 4, 3, in(rdi)), at(4, 3, 4, 5, value(3)), at(4, 5, 9, 0, in(rdi))}, function{}, 4, 4, false},
		{"a counter of an unrolled loop", []entry{at(0, 0, 4, 3, value(0)), at(4, 3, 4, 5, value(1)), at(4, 5, 9, 0, value(0))}, function{}, 4, 5, false},
		{"not told ahead", []entry{at(4, 0, 9, 0, in(rdi))}, function{jumps: [][2]uint64{{20, 5}}}, 6, 0, false},
		{"nowhere", []entry{at(4, 0, 9, 0, in(rdi))}, function{}, 12, 0, false},
	} {
		h := history{list: test.list, viewed: true, ways: &test.code}
		if got := h.contradicted(test.at, [2]int{test.view, test.view}); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
