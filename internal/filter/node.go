package filter

import (
	"fmt"

	"github.com/waymark-trace/waymark/event"
)

// Op says what a node of a condition is.
type Op uint8

// Conditions, comparisons, numbers and operands.
const (
	Or Op = iota
	And
	Not

	Eq
	Ne
	Lt
	Le
	Gt
	Ge
	Match
	NoMatch

	BitAnd
	Add
	Sub

	Name
	Int
	Float
	Text
	Bool
)

var opNames = [...]string{"||", "&&", "!", "==", "!=", "<", "<=", ">", ">=", "~", "!~", "&", "+", "-", "name", "integer", "number", "text", "bool"}

func (o Op) String() string { return opNames[o] }

// IsComparison reports whether o compares two operands.
func (o Op) IsComparison() bool { return o >= Eq && o <= NoMatch }

// mirror is the comparison with its sides exchanged.
func (o Op) mirror() Op {
	switch o {
	case Lt:
		return Gt
	case Le:
		return Ge
	case Gt:
		return Lt
	case Ge:
		return Le
	}
	return o
}

// Node is a condition or a part of one.
type Node struct {
	Op   Op
	X, Y *Node // of operators; Not has X only

	// Kind is what the value of a bound node is. Integers of a literal or an operator are
	// Int64, Uint64 or Duration.
	Kind event.Kind
	// Var is the index of a bound Name among the filter's variables.
	Var int
	// Bits are the value of Int, Bool (0 or 1) and Float: of a bound one as a field of its Kind
	// has them, before that as a float64.
	Bits uint64
	// Pattern is the index of a bound comparison's text among the expression's patterns.
	Pattern int

	text   string // of Name, Text and numbers, as written
	column int    // from 1, in characters
}

// Error is what is wrong with a condition.
type Error struct {
	Column int // where, from 1, in characters
	Reason string
	Hint   string // what to do about it, "" when that goes without saying
}

func (e *Error) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Reason) }

func (n *Node) errorf(hint, format string, args ...any) error {
	return &Error{Column: n.column, Reason: fmt.Sprintf(format, args...), Hint: hint}
}

// Limits of a condition. They bound what the kernel has to verify and to keep on a stack.
const (
	MaxLength   = 4096 // bytes
	maxNodes    = 256
	maxNesting  = 64
	maxPatterns = 16
	// MaxDepth is how many numbers have to be kept at a time.
	MaxDepth = 8
)
