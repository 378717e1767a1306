package tracefs

import (
	"debug/elf"
	"testing"

	"github.com/waymark-trace/waymark/sdt"
)

func TestFetch(t *testing.T) {
	for operand, want := range map[string]string{ // "" has none
		"-4@%eax":           "%ax:s32",
		"1@%bpl":            "%bp:u8",
		"8@%r12":            "%r12:u64",
		"1@%ah":             "%ax:b8@8/64",
		"-1@%ah":            "",
		"-2@24(%rsp)":       "+24(%sp):s16",
		"8@-8(%rbp)":        "-8(%bp):u64",
		"4@$7":              `\7:u32`,
		"-8@$-9":            `\-9:s64`,
		"8@$-1":             `\18446744073709551615:u64`,
		"-4@8(%rip)":        "+8(%ip):s32",
		"4@(%rax,%rbx,4)":   "",
		"4@-3(,%rbx,1)":     "-3(%bx):u32",
		"8f@(%rax)":         "+0(%ax):x64",
		"8f@%xmm0":          "",
		"-4@nobody+4(%rip)": "",
	} {
		o := sdt.ParseOperands(elf.EM_X86_64, operand)[0]
		got, err := Fetch(elf.EM_X86_64, &o, 0)
		if err != nil {
			got = ""
		}
		if got != want {
			t.Errorf("%s: %q, %v; want %q", operand, got, err, want)
		}
	}
	for operand, want := range map[string]string{"8@x0": "%x0:u64", "-4@[sp, 12]": "+12(%sp):s32", "4@5": `\5:u32`, "8@[x0, x1]": ""} {
		o := sdt.ParseOperands(elf.EM_AARCH64, operand)[0]
		if got, err := Fetch(elf.EM_AARCH64, &o, 0); err == nil && got != want || err != nil && want != "" {
			t.Errorf("%s: %q, %v; want %q", operand, got, err, want)
		}
	}
	o := sdt.ParseOperands(elf.EM_X86_64, "8@8(%rip)")[0]
	if got, _ := Fetch(elf.EM_X86_64, &o, 5); got != "+3(%ip):u64" {
		t.Errorf("from an event 5 bytes behind the site: %q, want +3(%%ip):u64", got)
	}
}
