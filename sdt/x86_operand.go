package sdt

import (
	"errors"
	"fmt"
	"strings"
)

// parseX86 reads an x86-64 operand in AT&T syntax:
//
//	$5  $-9  $0xff                               constant
//	%rdx %edx %dx %dl %dh                        register
//	8(%rbp)  4+8(%rbp)  (%rax,%rbx,8)  (,%rax,8) memory
//	sym+8(%rip)  24+sym(%rip)                    memory
func parseX86(o *Operand, body string) error {
	switch {
	case strings.HasPrefix(body, "$"):
		return o.setConstant(body[1:])
	case strings.HasPrefix(body, "%") && strings.Contains(body, ":"):
		return errors.New("memory relative to a segment register")
	case strings.HasPrefix(body, "%"):
		return parseX86Register(o, body)
	}
	disp, inner, ok := strings.Cut(body, "(")
	inner, closed := strings.CutSuffix(inner, ")")
	if !ok || !closed {
		return errors.New("neither a constant, a register nor memory")
	}
	return parseX86Memory(o, disp, inner)
}

func parseX86Register(o *Operand, text string) error {
	if isX86Vector(text) {
		return fmt.Errorf("%s is a floating-point or vector register, which a probe cannot see", clip(text))
	}
	r, ok := x86Registers[text]
	switch {
	case !ok:
		return fmt.Errorf("no register %s", clip(text))
	case r.shift != 0 && o.Size > 1:
		return fmt.Errorf("%s has 1 byte, the operand %d", text, o.Size)
	}
	o.setRegister(r.reg, r.width)
	o.Shift = r.shift
	return nil
}

func parseX86Memory(o *Operand, dispText, inner string) error {
	var disp int64
	var symbol string
	if dispText != "" {
		var err error
		if disp, symbol, err = parseSum(dispText); err != nil {
			return fmt.Errorf("displacement %q: %w", clip(dispText), err)
		}
	}
	parts := strings.Split(inner, ",")
	if len(parts) > 3 {
		return errors.New("more than base, index and scale")
	}
	for i := range parts {
		parts[i] = strings.Trim(parts[i], blanks)
	}
	base, index, scale := NoReg, NoReg, uint8(0)
	if parts[0] != "" || len(parts) == 1 {
		r, ok := x86Registers[parts[0]]
		if !ok || r.width != 8 {
			return fmt.Errorf("no 64-bit base register %s", clip(parts[0]))
		}
		base = r.reg
	}
	if len(parts) > 1 {
		r, ok := x86Registers[parts[1]]
		// Machine code has no form with %rsp as index, nor one with %rip and an index.
		if !ok || r.width != 8 || r.reg == RSP || r.reg == PC || base == PC {
			return fmt.Errorf("no 64-bit index register %s", clip(parts[1]))
		}
		index, scale = r.reg, 1
	}
	if len(parts) > 2 {
		switch parts[2] {
		case "1", "2", "4", "8":
			scale = parts[2][0] - '0'
		default:
			return fmt.Errorf("a scale of %q", clip(parts[2]))
		}
	}
	o.setMemory(base, index, scale, disp, symbol)
	return nil
}

type x86Register struct {
	reg   Reg
	width int
	shift uint8
}

// x86Registers holds every name of a general register.
var x86Registers = func() map[string]x86Register {
	m := map[string]x86Register{"%rip": {PC, 8, 0}}
	for i, name := range x86Names {
		r := RAX + Reg(i)
		m["%"+name] = x86Register{r, 8, 0}
		switch {
		case r >= R8:
			m["%"+name+"d"] = x86Register{r, 4, 0}
			m["%"+name+"w"] = x86Register{r, 2, 0}
			m["%"+name+"b"] = x86Register{r, 1, 0}
			continue
		case r <= RBX: // rax: al, ah
			m["%"+name[1:2]+"l"] = x86Register{r, 1, 0}
			m["%"+name[1:2]+"h"] = x86Register{r, 1, 8}
		default: // rsi: sil
			m["%"+name[1:]+"l"] = x86Register{r, 1, 0}
		}
		m["%e"+name[1:]] = x86Register{r, 4, 0}
		m["%"+name[1:]] = x86Register{r, 2, 0}
	}
	return m
}()

func isX86Vector(text string) bool {
	for _, prefix := range []string{"%xmm", "%ymm", "%zmm", "%mm", "%st", "%k"} {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}
