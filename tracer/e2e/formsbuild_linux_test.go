package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// head is what an operand begins with: sign, size and type.
var head = regexp.MustCompile(`^-?\d*f?@`)

// sizeAndType returns the head of an operand, "8" for one that cannot be read, and what follows it.
func (a *arg) sizeAndType() (size, body string) {
	m := head.FindString(a.text)
	body = a.text[len(m):]
	switch {
	case a.reason != "":
		return "8", body
	case a.head != "":
		return a.head, body
	}
	return strings.TrimSuffix(m, "@"), body
}

// store is the assembly that leaves an operand in out[i], by the CPU's own reading of it.
func (a *arg) store(i int) string {
	size, body := a.sizeAndType()
	if a.stored != "" {
		body = a.stored
	}
	to := fmt.Sprintf("out+%d(%%rip)", 8*i)
	switch {
	case a.reason != "":
		return ""
	case strings.HasPrefix(body, "$"):
		return scratch(fmt.Sprintf("movabsq %s, %%rcx", body), to)
	case strings.HasPrefix(body, "%"):
		return fmt.Sprintf("mov %s, %s\n", body, to)
	}
	mov := map[byte]string{'1': "movb %s, %%cl", '2': "movw %s, %%cx", '4': "movl %s, %%ecx", '8': "movq %s, %%rcx"}
	return scratch(fmt.Sprintf(mov[strings.Trim(size, "-f")[0]], body), to)
}

// scratch stores what an instruction leaves in %rcx, and restores that for the operands that follow.
func scratch(load, to string) string {
	return "movq %rcx, saved(%rip)\n" + load + "\n movq %rcx, " + to + "\n movq saved(%rip), %rcx\n"
}

// assembly is a function with the form's probe. It keeps what its caller does not expect to lose.
func (f *form) assembly(n int) (text, heads string) {
	var stores, args strings.Builder
	for i := range f.args {
		a := &f.args[i]
		size, _ := a.sizeAndType()
		heads += size + " "
		args.WriteString(a.text + " ")
		stores.WriteString(a.store(i))
	}
	const registers = "rbx rbp r12 r13 r14 r15"
	push, pop := "", ""
	for _, r := range strings.Fields(registers) {
		push, pop = push+"pushq %"+r+"\n", "popq %"+r+"\n"+pop
	}
	return fmt.Sprintf("f%d: %smovq %%rsp, stack(%%rip)\n%s\n990: nop\n%smovq stack(%%rip), %%rsp\n%sret\nprobe f%d, \"%s\"\n",
		n, push, f.setup, stores.String(), pop, n, strings.TrimSpace(args.String())), strings.TrimSpace(heads)
}

// notes is the layout of a note: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation.
const notes = `
.macro probe name, args
.pushsection .note.stapsdt,"","note"
.balign 4
.4byte 2f-1f, 4f-3f, 3
1: .asciz "stapsdt"
2: .balign 4
3: .8byte 990b, 0, 0
.asciz "forms"
.asciz "\name"
.asciz "\args"
4: .balign 4
.popsection
.endm
.section .note.GNU-stack,"",@progbits
.data
.balign 64
.globl cell, out, edge, forms
cell: .zero 32
.set local.1, cell+8
.set größe, cell+8
out: .zero 512
edge: .quad 0
saved: .quad 0
stack: .quad 0
twice: .quad 0
`

// buildForms writes, assembles and links a program with the forms.
func buildForms(t *testing.T, gcc, pie string, all []form) string {
	t.Helper()
	var text, table strings.Builder
	for i := range all {
		code, heads := all[i].assembly(i)
		text.WriteString(code)
		fmt.Fprintf(&table, ".quad f%d, 8f, 9f\n.pushsection .rodata\n8: .asciz \"f%d\"\n9: .asciz \"%s\"\n.popsection\n", i, i, heads)
	}
	dir := t.TempDir()
	for name, source := range map[string]string{
		"forms.s": notes + ".text\n" + text.String() + ".data\n.balign 8\nforms:\n" + table.String() + ".quad 0, 0, 0\n",
		"twice.s": ".data\ntwice: .quad 0\n.section .note.GNU-stack,\"\",@progbits\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "forms")
	run(t, gcc, "-O1", pie, "-o", path, "testdata/forms.c", filepath.Join(dir, "forms.s"), filepath.Join(dir, "twice.s"))
	return path
}
