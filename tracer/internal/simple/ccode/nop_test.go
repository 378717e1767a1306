package ccode

import (
	"encoding/hex"
	"strings"
	"testing"
)

// The nops that GNU as and compilers pad with, as objdump decodes them, and what they are not.
func TestNopLength(t *testing.T) {
	for code, want := range map[string]int{
		"90":                               1,
		"66 90":                            2,
		"0f 1f 00":                         3, // nopl (%rax)
		"0f 1f 40 00":                      4, // nopl 0x0(%rax)
		"0f 1f 44 00 00":                   5, // nopl 0x0(%rax,%rax,1)
		"66 0f 1f 40 00":                   5,
		"66 66 66 66 90":                   5,
		"3e 8d 74 26 00":                   5, // lea %ds:0x0(%rsi,%riz,1)
		"e9 00 00 00 00":                   5,
		"66 0f 1f 44 00 00":                6,
		"0f 1f 80 00 00 00 00":             7,
		"0f 1f 84 00 00 00 00 00":          8,
		"66 2e 0f 1f 84 00 00 00 00 00":    10,
		"0f 1f 05 00 00 00 00":             7, // nopl 0x0(%rip)
		"0f 1f 04 25 00 00 00 00":          8, // nopl 0x0
		"eb 00":                            2,
		"48 89 c0":                         3, // mov %rax,%rax
		"48 89 c8":                         0, // mov %rcx,%rax
		"4c 89 c0":                         0, // mov %r8,%rax
		"4d 89 c0":                         3, // mov %r8,%r8
		"41 90":                            0, // xchg %eax,%r8d
		"48 8d 74 26 00":                   5, // lea 0x0(%rsi,%riz,1),%rsi
		"4d 8d 64 24 00":                   5, // lea 0x0(%r12),%r12
		"48 8d 76 00":                      4, // lea 0x0(%rsi),%rsi
		"48 8d b6 00 00 00 00":             7, // the same
		"48 8d 36":                         3, // lea (%rsi),%rsi
		"49 8d 74 24 00":                   0, // lea 0x0(%r12),%rsi
		"4a 8d 74 26 00":                   0, // lea 0x0(%rsi,%r12,1),%rsi
		"48 8d 74 24 00":                   0, // lea 0x0(%rsp),%rsi
		"48 8d 7c 24 10":                   0, // lea 0x10(%rsp),%rdi
		"48 8d 6c 12 02":                   0, // lea 0x2(%rdx,%rdx,1),%rbp
		"48 8d 74 36 00":                   0, // lea 0x0(%rsi,%rsi,1),%rsi
		"48 8d 2d 00 00 00 00":             0, // lea 0x0(%rip),%rbp
		"48 8d f6":                         0, // not an instruction
		"48 8d 74 26":                      0,
		"48 8d":                            0,
		"eb 01":                            0,
		"e9 01 00 00 00":                   0,
		"c3":                               0,
		"55":                               0,
		"48 83 ec 08":                      0,
		"":                                 0,
		"0f":                               0,
		"66 66 66 66 66 66 66 66 66 66 66": 0,
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := NopLength(b); got != want {
			t.Errorf("%s: %d bytes, want %d", code, got, want)
		}
	}
}
