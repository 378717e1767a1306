package link

import (
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

// A displacement backwards, as in a file whose constants come before its code.
func TestPCRelativeBackwards(t *testing.T) {
	inst, err := x86asm.Decode([]byte{0x48, 0x8d, 0x1d, 0x81, 0x96, 0xea, 0xff}, 64) // lea -0x15697f(%rip), %rbx
	if err != nil {
		t.Fatal(err)
	}
	if to, ok := pcRelative(&inst, 0x400000); !ok || to != 0x400007-0x15697f {
		t.Errorf("0x%x, %t", to, ok)
	}
}

// Writing any part of a register makes its address unknown.
func TestRegistersForget(t *testing.T) {
	for _, code := range [][]byte{
		{0x31, 0xc0},                   // xor %eax, %eax
		{0xb0, 0x01},                   // mov $1, %al
		{0xb4, 0x01},                   // mov $1, %ah
		{0x66, 0xb8, 0x01, 0x00},       // mov $1, %ax
		{0x48, 0x8b, 0x04, 0x24},       // mov (%rsp), %rax
		{0x58},                         // pop %rax
		{0x48, 0xf7, 0xe3},             // mul %rbx
		{0x48, 0x87, 0xd8},             // xchg %rbx, %rax
		{0xe8, 0x00, 0x00, 0x00, 0x00}, // call
		{0x0f, 0xa2},                   // cpuid
	} {
		inst, err := x86asm.Decode(code, 64)
		if err != nil {
			t.Fatal(err)
		}
		r := registers{x86asm.RAX: 1, x86asm.R9: 2}
		r.follow(&inst, 0, false)
		if addr, ok := r[x86asm.RAX]; ok {
			t.Errorf("%v: RAX still holds %d", inst, addr)
		}
	}
	for _, code := range [][]byte{
		{0x48, 0x83, 0xf8, 0x01}, // cmp $1, %rax
		{0x50},                   // push %rax
		{0x31, 0xdb},             // xor %ebx, %ebx
	} {
		inst, err := x86asm.Decode(code, 64)
		if err != nil {
			t.Fatal(err)
		}
		r := registers{x86asm.RAX: 1}
		r.follow(&inst, 0, false)
		if r[x86asm.RAX] != 1 {
			t.Errorf("%v: RAX is forgotten", inst)
		}
	}
	inst, err := x86asm.Decode([]byte{0x48, 0x89, 0xd3}, 64) // mov %rdx, %rbx
	if err != nil {
		t.Fatal(err)
	}
	r := registers{x86asm.RDX: 5}
	if r.follow(&inst, 0, false); r[x86asm.RBX] != 5 {
		t.Error("a copy is not followed")
	}
}
