package main

import (
	"fmt"
	"math"
	"strings"
)

// The measurements of the Linux kernel's markers of 2006 (M. Desnoyers, "Linux Kernel Markers performance
// tests", linux-kernel), on a Pentium 4 of 3 GHz: what it printed, and what its raw figures give.
type sourceRow struct {
	what    string
	loops   int
	cycles  int     // of all of them, raw
	printed float64 // cycles per loop, as printed

	bench, here string // the case here; %s is generic or optimized
}

func (s *sourceRow) perLoop() float64 { return float64(s.cycles) / float64(s.loops) }

const (
	srcEmpty = iota
	srcEmptyOptimized
	srcEmptyGeneric
	srcCopy
	srcCopyOptimized
	srcCopyGeneric
	srcFast
	srcVarargs
	srcVarargsUnguarded
	srcAsmlinkage
	srcVarargsCopied
	srcFormat
	srcKprobe
)

var sourceRows = []sourceRow{
	{"empty loop", 10_000_000, 15026497, 1.50, "disabled", "empty loop"},
	{"empty loop, optimized", 10_000_000, 40031640, 4.00, "disabled", "empty loop, 1 marker, optimized"},
	{"empty loop, generic", 10_000_000, 26697878, 2.67, "disabled", "empty loop, 1 marker, generic"},
	{"copy of 4096 bytes", 10_000, 12981555, 1298.16, "disabled", "copy 4096"},
	{"copy, optimized", 10_000, 12982290, 1298.23, "disabled", "copy 4096, 1 marker, optimized"},
	{"copy, generic", 10_000, 13002788, 1300.28, "disabled", "copy 4096, 1 marker, generic"},
	{"empty probe, arguments in registers", 100_000, 4407608, 44.08, "enabled", "marker, empty typed probe, optimized"},
	{"empty probe, variable arguments", 100_000, 5210587, 52.11, "enabled", "marker, empty probe by name, optimized"},
	{"the same without disabling preemption", 100_000, 3363450, 33.63, "enabled", "static key around a variadic call, optimized"},
	{"probe copies its arguments from the stack", 100_000, 5299837, 53.00, "enabled", "marker, typed probe that saves, optimized"},
	{"probe copies variable arguments", 100_000, 5574300, 55.74, "enabled", "marker, probe by name that saves, optimized"},
	{"probe parses the format, copies", 100_000, 9622117, 96.22, "enabled", "marker, probe by name that parses the format, optimized"},
	{"with an empty kprobe on the probe", 100_000, 423397455, 4233.97, "uprobes", "call of a 1-byte nop, int3 uprobe"},
}

// sourceDerived are the figures that the source derives from others.
var sourceDerived = []struct {
	what    string
	printed float64
	digits  float64 // how far it may be off: it subtracts what was rounded
	raw     float64
	why     string // said when it does not follow
}{
	{"optimized marker, empty loop", 2.50, 0.01, over(srcEmptyOptimized, srcEmpty), ""},
	{"generic marker, empty loop", 1.17, 0.01, over(srcEmptyGeneric, srcEmpty), ""},
	{"optimized marker, copy", 0.074, 0.002, over(srcCopyOptimized, srcCopy), ""},
	{"generic marker, copy", 2.123, 0.001, over(srcCopyGeneric, srcCopy), ""},
	{"preemption, arguments in registers", 40.08, 0.02, over(srcFast, srcEmptyOptimized), ""},
	{"variable arguments", 8.03, 0.01, over(srcVarargs, srcFast), ""},
	{"disabling preemption", 10.45, 0.01, over(srcVarargs, srcVarargsUnguarded),
		"it subtracts the loop with variable arguments from the one with arguments in registers"},
	{"arguments from the stack", 0.89, 0.01, over(srcAsmlinkage, srcVarargs), ""},
	{"variable arguments in the probe", 2.74, 0.01, over(srcVarargsCopied, srcAsmlinkage), ""},
	{"parsing the format", 40.48, 0.01, over(srcFormat, srcVarargsCopied), ""},
	{"the kprobe", 4178.23, 0.01, over(srcKprobe, srcVarargsCopied), ""},
	{"preemption and call, of the conclusion", 48.11, 0.02, over(srcVarargs, srcEmptyOptimized), ""},
	{"kprobe to marker and probe, ratio", 75, 1, over(srcKprobe, srcVarargsCopied) / sourceRows[srcVarargsCopied].perLoop(), ""},
	{"compiling a kernel, speedup with markers, %", 0.98, 0.01, (482.443 - 481.635) / 482.443 * 100, "of 482.443 s and 481.635 s"},
	{"ping flood, slowdown with markers, %", 0.03, 0.01, (136596/10.840 - 108504/8.614) / (136596 / 10.840) * 100, "cut off, not rounded"},
	{"bytes of the unlikely path", 32, 1, 0x46 - 0x13, "its disassembly has them from 13 to 46"},
	{"bytes of data that optimized markers save", 4, 1, 1 - 0, "its table of sizes has 1 byte for the flag"},
}

// over returns the cycles per loop that one row has more than another.
func over(row, base int) float64 { return sourceRows[row].perLoop() - sourceRows[base].perLoop() }

func sourceTable(all figures) string {
	hz := all.get("disabled", "time stamp counter")
	var b strings.Builder
	b.WriteString("| cycles per loop | 2006, printed | from its raw figures | here | here | |\n|---|--:|--:|--:|--:|---|\n")
	for _, s := range sourceRows {
		r := all.get(s.bench, s.here)
		fmt.Fprintf(&b, "| %s | %.2f | %.3f | ", s.what, s.printed, s.perLoop())
		if r.Value == nil || hz.Value == nil {
			fmt.Fprintf(&b, "| | %s |\n", because(r))
			continue
		}
		fmt.Fprintf(&b, "%.2f | %s | %s |\n", *r.Value**hz.Value, amount(r), s.here)
	}
	return b.String()
}

func derivedTable() string {
	var b strings.Builder
	b.WriteString("| derived by the source | printed | from its raw figures | |\n|---|--:|--:|---|\n")
	for _, d := range sourceDerived {
		verdict := ""
		if math.Abs(d.printed-d.raw) > d.digits/2 {
			verdict = "does not follow: " + d.why
		}
		fmt.Fprintf(&b, "| %s | %v | %.4g | %s |\n", d.what, d.printed, d.raw, verdict)
	}
	return b.String()
}
