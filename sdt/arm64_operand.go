package sdt

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// parseARM64 reads an aarch64 operand:
//
//	5  -9  0xff  #5                         constant
//	x0 w0 sp wsp fp lr x31                  register
//	[x0]  [x0, 8]  [x0, x1]  [x0, x1, lsl 3] memory
//	[x0, w1, sxtw]  [x0, w1, uxtw 2]         memory
func parseARM64(o *Operand, body string) error {
	if inner, ok := strings.CutPrefix(body, "["); ok {
		inner, closed := strings.CutSuffix(inner, "]")
		if !closed {
			return errors.New("a bracket is not closed, or something follows it")
		}
		return parseARM64Memory(o, inner)
	}
	if body == "" {
		return errors.New("neither a constant, a register nor memory")
	}
	if c := body[0]; c == '#' || c == '-' || c == '+' || c >= '0' && c <= '9' {
		return o.setConstant(strings.TrimPrefix(body, "#"))
	}
	if body == "xzr" || body == "wzr" {
		return o.setConstant("0")
	}
	r, width, ok := arm64Register(body)
	switch {
	case ok:
		o.setRegister(r, width)
		return nil
	case isARM64Vector(body):
		return fmt.Errorf("%s is a floating-point or vector register, which a probe cannot see", clip(body))
	}
	return fmt.Errorf("no register %s", clip(body))
}

func parseARM64Memory(o *Operand, inner string) error {
	parts := strings.Split(inner, ",")
	if len(parts) > 3 {
		return errors.New("more than base, index and shift")
	}
	for i := range parts {
		parts[i] = strings.Trim(parts[i], blanks)
	}
	base, width, ok := arm64Register(parts[0])
	if !ok || width != 8 {
		return fmt.Errorf("no 64-bit base register %s", clip(parts[0]))
	}
	if len(parts) == 1 {
		o.setMemory(base, NoReg, 0, 0, "")
		return nil
	}
	index, width, ok := arm64Register(parts[1])
	if !ok {
		if len(parts) > 2 {
			return fmt.Errorf("no index register %s", clip(parts[1]))
		}
		disp, symbol, err := parseSum(strings.TrimPrefix(parts[1], "#"))
		switch {
		case err != nil:
			return fmt.Errorf("displacement %q: %w", clip(parts[1]), err)
		case symbol != "":
			return fmt.Errorf("displacement %q: neither a number nor a register", clip(parts[1]))
		}
		o.setMemory(base, NoReg, 0, disp, "")
		return nil
	}
	if index == SP { // number 31 is the zero register here
		return fmt.Errorf("no index register %s", clip(parts[1]))
	}
	extend, scale, err := parseARM64Extend(width, parts[2:])
	if err != nil {
		return err
	}
	o.setMemory(base, index, scale, 0, "")
	o.Extend = extend
	return nil
}

// parseARM64Extend reads the text after an index register of width bytes. gcc shifts by bits
// (aarch64_print_operand_address, config/aarch64/aarch64.cc); a w register is always extended.
func parseARM64Extend(width int, parts []string) (extend Extend, scale uint8, err error) {
	if len(parts) == 0 && width == 8 {
		return Whole, 1, nil
	}
	if len(parts) == 0 {
		return 0, 0, errors.New("an index of 32 bits, but not how it is extended")
	}
	name, by, _ := strings.Cut(parts[0], " ")
	switch {
	case width == 8 && name == "lsl", width == 8 && name == "sxtx":
	case width == 4 && name == "uxtw":
		extend = ZeroExtend
	case width == 4 && name == "sxtw":
		extend = SignExtend
	default:
		return 0, 0, fmt.Errorf("an index of %d bits extended by %q", 8*width, clip(parts[0]))
	}
	var n uint64
	if by = strings.TrimPrefix(strings.Trim(by, blanks), "#"); by != "" || name == "lsl" {
		n, _, err = parseNumber(by)
	}
	if err != nil || n > 3 {
		return 0, 0, fmt.Errorf("an index shifted by %q", clip(parts[0]))
	}
	return extend, 1 << n, nil
}

func arm64Register(text string) (r Reg, width int, ok bool) {
	switch text {
	case "sp", "x31": // as bcc takes it
		return SP, 8, true
	case "wsp", "w31":
		return SP, 4, true
	case "fp":
		return X29, 8, true
	case "lr":
		return X30, 8, true
	}
	n, ok := registerNumber(text, "xw", 30)
	if !ok {
		return NoReg, 0, false
	}
	if text[0] == 'w' {
		return X0 + Reg(n), 4, true
	}
	return X0 + Reg(n), 8, true
}

func isARM64Vector(text string) bool {
	name, _, _ := strings.Cut(text, ".") // v0.2d
	_, ok := registerNumber(name, "bhsdqvz", 31)
	return ok
}

// registerNumber reads one of the letters and a decimal number up to most, without zeros before.
func registerNumber(text, letters string, most int) (int, bool) {
	if len(text) < 2 || len(text) > 3 || strings.IndexByte(letters, text[0]) < 0 {
		return 0, false
	}
	n, err := strconv.Atoi(text[1:])
	return n, err == nil && n >= 0 && n <= most && strconv.Itoa(n) == text[1:]
}
