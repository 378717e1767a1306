package variable

import (
	"errors"
	"fmt"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/location"
)

const (
	maxOps   = 256 // of an expression
	maxStack = 16
	maxDepth = 4 // of expressions in expressions
)

// site is what expressions at one address refer to.
type site struct {
	file  *debuginfo.File
	unit  *unitInfo
	pc    uint64                   // of the variables
	at    uint64                   // where the probe is: no instruction lies between that has an effect
	views [2]int                   // of pc
	base  func() (Location, error) // of the frame
	now   int                      // how deep in expressions
}

// value is a number on the symbolic stack, and how people call the address it is.
type value struct {
	location.Program
	text string
}

// evaluator runs an expression on programs instead of numbers: what it leaves says how to
// compute the result. There are no loops: backward branches are refused, and so are others.
type evaluator struct {
	*site
	b     debuginfo.Buffer
	stack []value
	// result is set by operations that say where rather than which number.
	result *Location
	pieces []Piece
	err    error
}

// locate evaluates an expression.
func (s *site) locate(expr []byte) Location {
	if len(expr) == 0 {
		return nowhere(ErrOptimized)
	}
	if s.now++; s.now > maxDepth {
		return nowhere(unavailable("expressions in expressions, more than %d", maxDepth))
	}
	defer func() { s.now-- }()
	e := &evaluator{site: s, b: debuginfo.Buffer{Data: expr}}
	for range maxOps {
		if e.b.Len() == 0 {
			return e.end()
		}
		e.step(byte(e.b.Uint(1)))
		if e.b.Err != nil {
			return nowhere(unavailable("its expression is cut off"))
		}
		if e.err != nil {
			return nowhere(e.err)
		}
	}
	return nowhere(unavailable("an expression of more than %d operations", maxOps))
}

// current returns the location that was described since the last piece.
func (e *evaluator) current() Location {
	if e.result != nil {
		return *e.result
	}
	if len(e.stack) == 0 {
		return nowhere(ErrOptimized)
	}
	top := e.stack[len(e.stack)-1]
	text := top.text
	if text == "" {
		text = "memory at a computed address"
	}
	return Location{Kind: Memory, Program: top.Program, Text: text}
}

func (e *evaluator) end() Location {
	if e.pieces == nil {
		return e.current()
	}
	l := Location{Kind: Pieces, Pieces: e.pieces, Text: "pieces"}
	for i, p := range e.pieces {
		l.Text += ", "[min(i, 1)^1:]
		l.Text += fmt.Sprintf("%d bytes %s", p.Size, p.Text)
	}
	return l
}

func (e *evaluator) fail(format string, args ...any) { e.err = unavailable(format, args...) }

func (e *evaluator) push(p location.Program, text string) {
	if len(e.stack) == maxStack || len(p) > location.MaxSteps {
		e.fail("an expression that keeps too much at a time")
		return
	}
	e.stack = append(e.stack, value{p, text})
}

func (e *evaluator) constant(n int64) { e.push(location.Program{{Op: location.Push, Arg: n}}, "") }

func (e *evaluator) pop() value {
	n := len(e.stack)
	if n == 0 {
		e.fail("its expression takes more than there is")
		return value{Program: location.Program{{Op: location.Push}}}
	}
	v := e.stack[n-1]
	e.stack = e.stack[:n-1]
	return v
}

// pick copies the number that has n others above it.
func (e *evaluator) pick(n int) {
	if n >= len(e.stack) {
		e.fail("its expression takes more than there is")
		return
	}
	v := e.stack[len(e.stack)-1-n]
	e.push(v.Program, v.text)
}

func (e *evaluator) binary(op location.Op) {
	b, a := e.pop(), e.pop()
	e.push(a.Join(b.Program, op), "")
}

// address pushes an address that the file has.
func (e *evaluator) address(a uint64) {
	// Where the program is loaded is known by where it is executing.
	e.push(location.Program{{Op: location.Register, Arg: location.PC}}.Plus(int64(a-e.at)), fmt.Sprintf("static at %#x", a))
}

// register pushes what a register holds, and an offset.
func (e *evaluator) register(n uint64, offset int64) {
	if n >= location.PC {
		e.err = registerError(n)
		return
	}
	e.push(location.Program{{Op: location.Register, Arg: int64(n)}}.Plus(offset), "memory at "+withOffset(registerName(n), offset))
}

func (e *evaluator) inRegister(n uint64) {
	if n >= location.PC {
		e.err = registerError(n)
		return
	}
	e.result = &Location{Kind: Value, Program: location.Program{{Op: location.Register, Arg: int64(n)}}, Text: "register " + registerName(n)}
}

func (e *evaluator) frameBase(offset int64) {
	l, err := e.base()
	if err != nil {
		e.err = err
		return
	}
	// The base is a register that holds the address, or the address itself; of what lies in
	// memory it is the address as well (DWARF 5, 3.3.5).
	if l.Kind != Memory && l.Kind != Value {
		e.err = l.Err
		if e.err == nil {
			e.fail("its frame is in pieces")
		}
		return
	}
	e.push(l.Program.Plus(offset), "stack "+withOffset(l.Text, offset))
}

// cfa pushes the canonical frame address.
func (e *evaluator) cfa() {
	c, err := e.file.CFA(e.pc)
	if err != nil {
		e.err = unavailable("%w", err)
		return
	}
	e.register(c.Register, c.Offset)
	if n := len(e.stack); e.err == nil && n > 0 {
		e.stack[n-1].text = "cfa"
	}
}

// piece ends the description of a part.
func (e *evaluator) piece(size uint64) {
	if size == 0 || size > 1<<20 || len(e.pieces) == maxStack {
		e.fail("a piece of %d bytes", size)
		return
	}
	e.pieces = append(e.pieces, Piece{e.current(), int64(size)})
	e.stack, e.result = nil, nil
}

func withOffset(name string, offset int64) string {
	if offset == 0 {
		return name
	}
	return fmt.Sprintf("%s%+d", name, offset)
}

var errVector = errors.New("it is in a register that the kernel does not show to probes")

func registerError(n uint64) error {
	if n >= 17 && n <= 32 {
		return fmt.Errorf("%w: xmm%d", errVector, n-17)
	}
	return fmt.Errorf("%w: number %d", errVector, n)
}

func registerName(n uint64) string {
	// AMD64 ABI, figure 3.36.
	names := [...]string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"}
	if n < uint64(len(names)) {
		return names[n]
	}
	return fmt.Sprint("number ", n)
}
