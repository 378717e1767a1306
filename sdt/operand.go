package sdt

import (
	"debug/elf"
	"errors"
	"fmt"
	"strings"
)

// ParseOperands reads the argument text of a note: one operand each, in order. An operand that
// cannot be read is Unreadable, with the reason; it does not affect the others. One that names a
// symbol needs the file's symbol table and so is Unreadable here, with Symbol set; Read
// resolves it.
//
// The grammar is the union of what SystemTap, bcc, libbpf and gdb take, for x86-64 and aarch64.
func ParseOperands(machine elf.Machine, args string) []Operand {
	ops := parseOperands(machine, args)
	for i := range ops {
		if o := &ops[i]; o.Kind != Unreadable && o.Symbol != "" {
			o.fail(errors.New("the address of " + clip(o.Symbol) + " is not known without its file"))
		}
	}
	return ops
}

// parseOperands leaves operands with a Symbol as Memory that lacks the symbol's address.
func parseOperands(machine elf.Machine, args string) []Operand {
	if strings.HasPrefix(args, ":") { // no arguments, as libbpf/usdt's usdt.h writes it
		return nil
	}
	var parse func(*Operand, string) error
	switch machine {
	case elf.EM_X86_64:
		parse = parseX86
	case elf.EM_AARCH64:
		parse = parseARM64
	default:
		parse = func(*Operand, string) error { return fmt.Errorf("operands of %v are not understood", machine) }
	}
	var ops []Operand
	for {
		var text string
		if text, args = cutOperand(args); text == "" {
			return ops
		}
		o := Operand{Text: text}
		if len(ops) == maxSiteOperands {
			o.fail(fmt.Errorf("it and all that follow come after %d others", maxSiteOperands))
			return append(ops, o)
		}
		body, err := o.parseHead()
		if err == nil {
			err = parse(&o, body)
		}
		if err == nil && o.Float && o.Size < 4 {
			err = fmt.Errorf("a floating-point number of %d bytes", o.Size)
		}
		if err != nil {
			o.fail(err)
		}
		ops = append(ops, o)
	}
}

// cutOperand splits the first operand off. A blank ends it, except within brackets. If the text
// after the blank begins like an operand, it ends there too, so an open bracket costs one only.
func cutOperand(args string) (first, rest string) {
	args = strings.TrimLeft(args, blanks)
	depth := 0
	for i := 0; i < len(args); i++ {
		switch c := args[i]; {
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth = max(depth-1, 0)
		case strings.IndexByte(blanks, c) < 0:
		case depth == 0 || headLen(strings.TrimLeft(args[i:min(i+16, len(args))], blanks)) > 0:
			return args[:i], args[i:]
		}
	}
	return strings.TrimRight(args, blanks), ""
}

const blanks = " \t\n"

// headLen is the length of the [-]N[f]@ that s begins with, 0 for none. SystemTap takes f@ as well,
// a floating-point number without a size.
func headLen(s string) int {
	i := 0
	if strings.HasPrefix(s, "-") {
		i++
	}
	digits := i
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i < len(s) && s[i] == 'f' {
		i++
	} else if i == digits {
		return 0
	}
	if i < len(s) && s[i] == '@' {
		return i + 1
	}
	return 0
}

// parseHead reads sign, size and type and returns the text after the @. Size stays 0 for an
// operand without a head, as in hand-written assembly.
func (o *Operand) parseHead() (body string, err error) {
	n := headLen(o.Text)
	if n == 0 {
		return o.Text, nil
	}
	head, body := o.Text[:n-1], o.Text[n:]
	head, o.Signed = strings.CutPrefix(head, "-")
	head, o.Float = strings.CutSuffix(head, "f")
	switch head {
	case "1", "2", "4", "8":
		o.Size = int(head[0] - '0')
	case "": // f@
	default:
		return "", fmt.Errorf("a size of %s bytes", clip(head))
	}
	return body, nil
}

// setConstant cuts the constant to the operand's size, which governs, and extends it again.
func (o *Operand) setConstant(text string) error {
	bits, _, err := parseNumber(text)
	if err != nil {
		return fmt.Errorf("constant %q: %w", clip(text), err)
	}
	if o.Size == 0 {
		o.Size = 8
	}
	unused := 64 - 8*o.Size
	if o.Signed {
		bits = uint64(int64(bits<<unused) >> unused)
	} else {
		bits = bits << unused >> unused
	}
	o.Kind, o.Value = Constant, bits
	return nil
}

// setRegister takes a register of width bytes. The operand's own size governs where there is
// one: compilers name a wider or narrower alias of the register (gdb PR 24541).
func (o *Operand) setRegister(r Reg, width int) {
	if o.Size == 0 {
		o.Size = width
	}
	o.Kind, o.Base = Register, r
}

func (o *Operand) setMemory(base, index Reg, scale uint8, disp int64, symbol string) {
	if o.Size == 0 {
		o.Size = 8
	}
	o.Kind, o.Base, o.Index, o.Scale, o.Disp, o.Symbol = Memory, base, index, scale, disp, symbol
}

// fail makes the operand Unreadable. Its size, type and symbol stay for display.
func (o *Operand) fail(reason error) {
	*o = Operand{Text: o.Text, Size: o.Size, Signed: o.Signed, Float: o.Float, Symbol: o.Symbol,
		Err: &operandError{o.Text, reason}}
}

// operandError quotes the operand only when the error is printed: a hostile file can have many.
type operandError struct {
	text   string
	reason error
}

func (e *operandError) Error() string { return fmt.Sprintf("operand %q: %v", clip(e.text), e.reason) }

func (e *operandError) Unwrap() error { return e.reason }
