package link

import (
	"bytes"
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

// What a register holds at the end of code at address 0, on all paths to it.
func TestFlow(t *testing.T) {
	code := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	var (
		first  = []byte{0x48, 0x8d, 0x05, 0x10, 0x00, 0x00, 0x00} // lea 0x10(%rip), %rax
		test   = []byte{0x85, 0xc9}                               // test %ecx, %ecx
		over   = []byte{0x75, 0x07}                               // jne, over seven bytes
		call   = []byte{0xe8, 0x00, 0x01, 0x00, 0x00}             // call
		spill  = []byte{0x48, 0x89, 0x44, 0x24, 0x10}             // mov %rax, 0x10(%rsp)
		fill   = []byte{0x48, 0x8b, 0x44, 0x24, 0x10}             // mov 0x10(%rsp), %rax
		taken  = []byte{0x48, 0x8d, 0x4c, 0x24, 0x08}             // lea 0x8(%rsp), %rcx
		narrow = []byte{0xc7, 0x44, 0x24, 0x14, 1, 0, 0, 0}       // movl $1, 0x14(%rsp)
		wide   = []byte{0x0f, 0x11, 0x44, 0x24, 0x08}             // movups %xmm0, 0x8(%rsp)
		any    = []byte{0x48, 0x89, 0x0b}                         // mov %rcx, (%rbx)
		table  = []byte{0xff, 0xe1}                               // jmp *%rcx
		nop    = []byte{0x90}
	)
	for _, tt := range []struct {
		name  string
		code  []byte
		known bool
	}{
		{"straight", code(first, test), true},
		{"another on one path", code(first, test, over, []byte{0x48, 0x8d, 0x05, 0x20, 0, 0, 0}), false},
		{"the same on both paths", code(first, test, over, []byte{0x48, 0x8d, 0x05, 0x05, 0, 0, 0}), true},
		{"changed in a loop", code(first, test, []byte{0x48, 0xff, 0xc0}, []byte{0x75, 0xf9}), false}, // inc %rax; jne to test
		{"kept in a loop", code(first, test, []byte{0x48, 0xff, 0xc3}, []byte{0x75, 0xf9}), true},     // inc %rbx; jne to test
		{"a call", code(first, call), false},
		{"on the stack over a call", code(first, spill, call, fill), true},
		{"on the stack, whose address is taken", code(first, taken, spill, call, fill), false},
		{"on the stack, whose address is taken, without a call", code(first, taken, spill, nop, fill), true},
		{"on the stack, whose address is taken, with a store", code(first, taken, spill, any, fill), false},
		{"half of the word changed", code(first, spill, narrow, fill), false},
		{"a wide store over it", code(first, spill, wide, fill), false},
		{"a jump table before", code(test, []byte{0x75, 0x02}, table, first, test, []byte{0x75, 0x00}), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFlow(0, code(tt.code, nop), around{
				preserves: func(uint64) bool { return false }, constant: func(uint64) (uint64, bool) { return 0, false },
			})
			want := uint64(0x17)
			if tt.name == "a jump table before" {
				want += 6
			}
			f.pass(func(at int, _ *x86asm.Inst, v *values) {
				if to, known := v.registers[x86asm.RAX]; at == len(tt.code) && (known && to == want) != tt.known {
					t.Errorf("RAX holds 0x%x, known: %t", to, known)
				}
			})
		})
	}
}

// A function that calls morestack begins once more with what it was called with.
func TestFlowBeginsAgain(t *testing.T) {
	text := []byte{
		0x49, 0x3b, 0x66, 0x10, // cmp 0x10(%r14), %rsp
		0x76, 0x05, // jbe, to the call
		0x48, 0x8b, 0x42, 0x08, // mov 0x8(%rdx), %rax
		0xc3,                         // ret
		0xe8, 0x00, 0x01, 0x00, 0x00, // call
		0xeb, 0xee, // jmp, to the beginning
	}
	f := newFlow(0, text, around{closure: map[uint64]uint64{8: 0x1234}, preserves: func(uint64) bool { return false }})
	f.pass(func(at int, in *x86asm.Inst, v *values) {
		if in.Op == x86asm.RET && v.registers[x86asm.RAX] != 0x1234 {
			t.Errorf("at %d RAX holds 0x%x", at, v.registers[x86asm.RAX])
		}
	})
}
