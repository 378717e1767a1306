package ccode

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// zoned are functions by name: f, g, …, and why each may have a red zone, "" if not. Their markers are at the nop.
var zoned = map[string]struct{ code, reason string }{
	"nothing":          {"nop; ret", ""},
	"registers":        {"mov (%rdi),%rax; nop; add %rax,8(%rsi); ret", ""},
	"write":            {"mov %rdi,-8(%rsp); nop; mov -8(%rsp),%rax; ret", "uses memory below"},
	"frame pointer":    {"push %rbp; mov %rsp,%rbp; mov %edi,-20(%rbp); nop; pop %rbp; ret", "uses memory below"},
	"below its frame":  {"sub $72,%rsp; mov %rdi,-16(%rsp); nop; add $72,%rsp; ret", "uses memory below"},
	"in its frame":     {"sub $72,%rsp; mov %rdi,16(%rsp); nop; add $72,%rsp; ret", ""},
	"moved frame":      {"push %rbp; mov %rsp,%rbp; sub $24,%rsp; mov %edi,-20(%rbp); nop; leave; ret", ""},
	"vector":           {"vmovdqu %ymm0,-32(%rsp); nop; vmovdqu -32(%rsp),%ymm0; ret", "uses memory below"},
	"address":          {"lea 8(%rsp),%rax; movb $0,-9(%rax); nop; ret", "calls no others"},
	"copied pointer":   {"mov %rsp,%rax; movb $0,-9(%rax); nop; ret", "calls no others"},
	"index":            {"movb $0,8(%rsp,%rdi); nop; ret", "calls no others"},
	"general register": {"push %rbp; mov %rdi,%rbp; mov %rsi,-40(%rbp); nop; pop %rbp; ret", ""},
	"call":             {"sub $24,%rsp; lea 8(%rsp),%rdi; call other; nop; add $24,%rsp; ret", ""},
	"call of pointer":  {"push %rax; call *%rdi; nop; pop %rax; ret", ""},
	"address first":    {"push %rbp; mov %rsp,%rbp; lea -32(%rbp),%rdi; sub $32,%rsp; call other; nop; leave; ret", ""},
	"call in the tail": {"mov %rdi,-8(%rsp); nop; jmp other", "uses memory below"},
	// Compilers do not count the call of a profiler at a function's beginning; and assembly that
	// calls may step over the red zone first.
	"profiled":      {"call other; lea -8(%rsp),%rax; mov %rdi,(%rax); nop; ret", "calls no others"},
	"stepped over":  {"mov %rdi,-8(%rsp); sub $128,%rsp; call other; add $128,%rsp; nop; ret", "uses memory below"},
	"barrier":       {"push %rax; call other; lock orl $0,-64(%rsp); nop; pop %rax; ret", ""},
	"aligned":       {"push %rbp; mov %rsp,%rbp; and $-64,%rsp; sub $64,%rsp; mov %rdi,(%rsp); nop; leave; ret", ""},
	"far below":     {"push %rbp; mov %rsp,%rbp; and $-64,%rsp; mov %rdi,-8(%rbp); nop; leave; ret", "calls no others"},
	"variable size": {"push %rbp; mov %rsp,%rbp; sub %rdi,%rsp; mov %rsi,-8(%rbp); nop; leave; ret", "calls no others"},
	"two ways":      {"test %edi,%edi; je 1f; push %rbx; sub $16,%rsp; mov %rsi,8(%rsp); call other; add $16,%rsp; pop %rbx; 1: nop; ret", ""},
	"leaf's jumps":  {"push %rbp; mov %rsp,%rbp; sub $16,%rsp; jmp *%rax; mov %rdi,-8(%rbp); nop; leave; ret", ""},
	"lost":          {"push %rbp; mov %rsp,%rbp; mov %rdi,%rsp; mov %rsi,-8(%rbp); nop; leave; ret", "calls no others"},
	"unknown":       {".byte 0xd5, 0xd5; nop; ret", "unknown instruction"},
	"inside":        {".byte 0xb8, 0, 0, 0, 0x90; ret", "inside another instruction"},
	// Compilers move what is unlikely away.
	"cold call": {`push %rbx; .cfi_def_cfa_offset 16; test %edi,%edi; js 2f; nop; mov %edi,8(%rsp,%rbx); pop %rbx; ret; .cfi_endproc
		.section .text.unlikely,"ax"; .cfi_startproc; .cfi_def_cfa_offset 16; ud2; 2: call other; ud2; .cfi_endproc; .text; .cfi_startproc`, ""},
	"call of another": {`push %rbx; .cfi_def_cfa_offset 16; test %edi,%edi; js 2f; nop; mov %edi,8(%rsp,%rbx); pop %rbx; ret; .cfi_endproc
		.section .text.unlikely,"ax"; .cfi_startproc; 2: push %rax; call other; ud2; .cfi_endproc; .text; .cfi_startproc`, "calls no others"},
}

func TestRedZones(t *testing.T) {
	t.Run("unwind tables", func(t *testing.T) { checkZoned(t, "-Wl,--strip-all", ".cfi_startproc", ".cfi_endproc") })
	t.Run("symbols", func(t *testing.T) { checkZoned(t, "-Wl,--build-id=none", "", "") })
}

func checkZoned(t *testing.T, option, begin, end string) {
	for name, test := range zoned {
		if begin == "" && strings.Contains(test.code, ".cfi") {
			continue
		}
		file, address := zonedProgram(t, option, begin, end, test.code)
		z := NewRedZones(bytes.NewReader(file))
		err := z.Check(address)
		if (err == nil) != (test.reason == "") || err != nil && !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%s: %v, want %q", name, err, test.reason)
		}
		if err := z.Check(1 << 40); err == nil || !strings.Contains(err.Error(), "bounds of its function are unknown") {
			t.Errorf("%s: outside of the file: %v", name, err)
		}
		z.Close()
	}
}

// zonedProgram assembles a function. It returns the file and the address of the byte of its nop.
func zonedProgram(t testing.TB, option, begin, end, code string) (file []byte, address uint64) {
	t.Helper()
	gcc := peer.Need(t, "gcc")[0]
	dir := t.TempDir()
	source := fmt.Sprintf(".text\n.type other,@function\nother: .cfi_startproc\n ret\n.cfi_endproc\n.size other,.-other\n"+
		".globl _start\n.type _start,@function\n.balign 64\n_start: %s\n%s\n%s\n.size _start,.-_start\n", begin, code, end)
	if err := os.WriteFile(filepath.Join(dir, "f.s"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(gcc, "-nostdlib", "-static", "-Wl,--no-gc-sections", option, "-o", "f", "f.s")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, source, out)
	}
	file, err := os.ReadFile(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.IndexByte(text[f.Entry-f.Section(".text").Addr:], 0x90)
	if at < 0 {
		t.Fatal("the function has no nop")
	}
	return file, f.Entry + uint64(at)
}

// Without unwind tables and symbols, a function's bounds are unknown.
func TestRedZonesWithoutBounds(t *testing.T) {
	file, address := zonedProgram(t, "-Wl,--strip-all", "", "", "nop; ret")
	if err := NewRedZones(bytes.NewReader(file)).Check(address); err == nil || !strings.Contains(err.Error(), "neither unwind tables nor symbols") {
		t.Errorf("%v, want that its bounds are unknown", err)
	}
}

// FuzzRedZones judges functions of programs of which any byte may be wrong.
func FuzzRedZones(f *testing.F) {
	for _, name := range []string{"moved frame", "two ways", "leaf's jumps", "cold call"} {
		file, address := zonedProgram(f, "-Wl,--build-id=none", ".cfi_startproc", ".cfi_endproc", zoned[name].code)
		f.Add(file, address)
	}
	f.Fuzz(func(t *testing.T, file []byte, address uint64) {
		z := NewRedZones(bytes.NewReader(file))
		defer z.Close()
		for i := range uint64(8) {
			_ = z.Check(address + i)
		}
	})
}
