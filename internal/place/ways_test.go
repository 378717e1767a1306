package place

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
)

// What a function's instructions write, load and lead to.
func TestWays(t *testing.T) {
	code, err := hex.DecodeString(strings.ReplaceAll(
		"4889f8 "+ // 00 mov %rdi,%rax
			"ba05000000 "+ // 03 mov $5,%edx
			"31c9 "+ // 08 xor %ecx,%ecx
			"0fb6d2 "+ // 0a movzbl %dl,%edx
			"83e801 "+ // 0d sub $1,%eax
			"75fb "+ // 10 jne 0d
			"e800000000 "+ // 12 call 17
			"c3", // 17 ret
		" ", ""))
	if err != nil {
		t.Fatal(err)
	}
	fl := &flow{ranges: [][2]uint64{{0, uint64(len(code))}}, code: map[uint64]*instruction{}, into: map[uint64][]uint64{}}
	for at := 0; at < len(code); {
		in := decode(code[at:], uint64(at))
		if in.size == 0 {
			t.Fatalf("at %#x", at)
		}
		fl.code[in.address], fl.order = &in, append(fl.order, in.address)
		at += in.size
	}
	if err := fl.link(nil); err != nil {
		t.Fatal(err)
	}
	const rax, rdx, rcx, rbx, rdi = 0, 1, 2, 3, 5
	w := fl.everyWay()
	for _, test := range []struct {
		register  uint
		low, high uint64
		want      bool
	}{
		{rax, 0, 0, true}, {rax, 1, 0xc, false}, {rax, 1, 0xd, true}, {rax, 0x10, 0x11, false}, {rax, 0x10, 0x12, true},
		{rdx, 0, 2, false}, {rdx, 3, 3, true}, {rdx, 4, 0x11, false}, {rcx, 0, 8, true}, {rbx, 0, ^uint64(0), false}, {rdi, 0, 0x11, false}, {rdi, 0, 0x12, true},
		{16, 0, ^uint64(0), false},
	} {
		if got := w.Writes(test.register, test.low, test.high); got != test.want {
			t.Errorf("writes %d in %#x to %#x: %v", test.register, test.low, test.high, got)
		}
	}
	type load struct {
		from  uint
		value int64
		ok    bool
	}
	for at, want := range map[[2]uint64]load{
		{rax, 0}: {rdi, 0, true}, {rax, 0xc}: {rdi, 0, true}, {rax, 0xd}: {}, {rdx, 2}: {}, {rdx, 3}: {Constant, 5, true}, {rdx, 0x10}: {Constant, 5, true},
		{rcx, 8}: {Constant, 0, true}, {rcx, 0x12}: {}, {rbx, 0x17}: {}, {16, 0x17}: {},
	} {
		var got load
		if got.from, got.value, got.ok = w.Loaded(uint(at[0]), at[1]); got != want {
			t.Errorf("loads %d up to %#x: %v, want %v", at[0], at[1], got, want)
		}
	}
	var from []uint64
	w.Into(0xd, 0xe, func(at uint64) bool { from = append(from, at); return true })
	w.Into(0xe, ^uint64(0), func(at uint64) bool { t.Errorf("a jump from %#x", at); return true })
	if !slices.Equal(from, []uint64{0x10}) {
		t.Errorf("jumps from %#x", from)
	}
	for at, want := range map[uint64]bool{0xa: false, 0xd: true, 0x10: true, 0x12: false} {
		if w.Repeats(at) != want {
			t.Errorf("%#x is in a loop: %v", at, !want)
		}
	}
	if at, ok := w.Before(0x12); !ok || at != 0x10 {
		t.Errorf("ahead of the call is %#x, %v", at, ok)
	}
	if _, ok := w.Before(0); ok {
		t.Error("something is ahead of the function")
	}
}
