// Package location describes how to compute a number from the registers and the memory of a thread:
// the common form of a debugger's variable location and of the code of an eBPF program.
package location

import (
	"fmt"
	"math/bits"
	"strings"
)

// Op is what a step does to the stack of 64-bit numbers. Its order is part of nothing.
type Op uint8

const (
	Push     Op = iota // pushes Arg
	Register           // pushes the register that DWARF numbers Arg
	Deref              // replaces an address by the number of Arg bytes that lies there: 1, 2, 4 or 8
	Add                // these replace two numbers by one; the upper is the right operand
	Sub
	Mul
	And
	Or
	Xor
	Shl
	Shr // with zeros
	Sar // with the sign
	Neg
	Not // all bits
	// Less and its like leave 1 or 0; numbers are signed.
	Less
	LessEqual
	Equal
	NotEqual
)

var names = [...]string{"push", "register", "deref", "+", "-", "*", "&", "|", "^", "<<", ">>", ">>>", "neg", "not", "<", "<=", "==", "!="}

// Binary reports whether a step takes two numbers.
func (o Op) Binary() bool { return o >= Add && o <= Sar || o >= Less && o <= NotEqual }

// Unary reports whether it changes one.
func (o Op) Unary() bool { return o == Deref || o == Neg || o == Not }

// Step is one step of a Program.
type Step struct {
	Op  Op
	Arg int64
}

// Program leaves one number. The zero value has none.
type Program []Step

const (
	// MaxSteps bounds a program: each step is some ten instructions of eBPF.
	MaxSteps = 48
	// MaxDepth is how many numbers there are at a time.
	MaxDepth = 5
	// PC is the number of the program counter among DWARF's registers of x86-64.
	PC = 16
)

// Check reports whether a program leaves exactly one number, within the limits.
func (p Program) Check() error {
	depth := 0
	for _, s := range p {
		switch {
		case s.Op == Push || s.Op == Register:
			depth++
		case s.Op.Binary() && depth >= 2:
			depth--
		case s.Op.Unary() && depth >= 1:
		default:
			return fmt.Errorf("step %v of %d numbers", s, depth)
		}
		switch {
		case s.Op == Deref && (s.Arg < 1 || s.Arg > 8 || bits.OnesCount8(uint8(s.Arg)) != 1):
			return fmt.Errorf("a number of %d bytes", s.Arg)
		case s.Op == Register && (s.Arg < 0 || s.Arg > PC):
			return fmt.Errorf("register %d", s.Arg)
		case depth > MaxDepth:
			return fmt.Errorf("more than %d numbers at a time", MaxDepth)
		}
	}
	if depth != 1 || len(p) > MaxSteps {
		return fmt.Errorf("%d steps that leave %d numbers", len(p), depth)
	}
	return nil
}

// With returns the program with more steps behind it. p is not changed.
func (p Program) With(steps ...Step) Program {
	return append(p[:len(p):len(p)], steps...).fold()
}

// Join returns the program that applies op to what p and q leave.
func (p Program) Join(q Program, op Op) Program {
	return p.With(q...).With(Step{Op: op})
}

// Plus returns the program with a constant added.
func (p Program) Plus(n int64) Program {
	if n == 0 {
		return p
	}
	return p.With(Step{Push, n}, Step{Op: Add})
}

// Constant returns what the program leaves when that does not depend on the thread.
func (p Program) Constant() (int64, bool) {
	if len(p) == 1 && p[0].Op == Push {
		return p[0].Arg, true
	}
	return 0, false
}

// fold computes what is constant at the end of a program.
func (p Program) fold() Program {
	var out Program
	for _, s := range p {
		out = append(out, s)
		for n := len(out); n >= 3 && out[n-3].Op == Push && out[n-2].Op == Push && out[n-1].Op.Binary(); n = len(out) {
			v := apply(out[n-1].Op, out[n-3].Arg, out[n-2].Arg)
			out = append(out[:n-3], Step{Push, v})
		}
		// x + a + b
		if n := len(out); n >= 4 && out[n-1].Op == Add && out[n-2].Op == Push && out[n-3].Op == Add && out[n-4].Op == Push {
			out = append(out[:n-4], Step{Push, out[n-4].Arg + out[n-2].Arg}, Step{Op: Add})
		}
		if n := len(out); n >= 2 && out[n-2].Op == Push && (s.Op == Neg || s.Op == Not) {
			v := -out[n-2].Arg
			if s.Op == Not {
				v = ^out[n-2].Arg
			}
			out = append(out[:n-2], Step{Push, v})
		}
		if n := len(out); n >= 3 && out[n-1].Op == Add && out[n-2] == (Step{Push, 0}) {
			out = out[:n-2]
		}
	}
	return out
}

// apply is what a step of two numbers leaves; shifts take the count modulo 64, as eBPF does.
func apply(op Op, a, b int64) int64 {
	truth := func(is bool) int64 {
		if is {
			return 1
		}
		return 0
	}
	switch op {
	case Add:
		return a + b
	case Sub:
		return a - b
	case Mul:
		return a * b
	case And:
		return a & b
	case Or:
		return a | b
	case Xor:
		return a ^ b
	case Shl:
		return a << (b & 63)
	case Shr:
		return int64(uint64(a) >> (b & 63))
	case Sar:
		return a >> (b & 63)
	case Less:
		return truth(a < b)
	case LessEqual:
		return truth(a <= b)
	case Equal:
		return truth(a == b)
	}
	return truth(a != b)
}

// String is for tests and for equality: programs are equal when it is.
func (p Program) String() string {
	words := make([]string, len(p))
	for i, s := range p {
		words[i] = s.String()
	}
	return strings.Join(words, " ")
}

func (s Step) String() string {
	name := fmt.Sprint(uint8(s.Op))
	if int(s.Op) < len(names) {
		name = names[s.Op]
	}
	switch s.Op {
	case Push:
		return fmt.Sprint(s.Arg)
	case Register, Deref:
		return fmt.Sprintf("%s%d", name, s.Arg)
	}
	return name
}
