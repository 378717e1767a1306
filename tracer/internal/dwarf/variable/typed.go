package variable

import (
	"debug/dwarf"
	"errors"
	"strconv"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/location"
)

var errThread = errors.New("it is local to a thread, whose storage a probe does not find")

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// typed does the operations on numbers of a type that DWARF 5, 2.5.1 has: integers of up to 64
// bits are numbers like all others here, cut to their size.
func (e *evaluator) typed(op byte) {
	switch op {
	case opRegvalType, opGNURegval:
		e.register(e.b.Uleb(), 0)
		e.cut(e.b.Uleb())
	case opDerefType, opGNUDeref:
		size := e.b.Uint(1)
		t := e.b.Uleb()
		e.push(e.pop().With(location.Step{Op: location.Deref, Arg: int64(size)}), "")
		e.cut(t)
	case opConstType, opGNUConst:
		t := e.b.Uleb()
		data := e.b.Bytes(e.b.Uint(1))
		var v uint64
		for i := len(data) - 1; i >= 0; i-- {
			v = v<<8 | uint64(data[i])
		}
		if len(data) > 8 {
			e.fail("a constant of %d bytes", len(data))
		}
		e.constant(int64(v))
		e.cut(t)
	default:
		e.cut(e.b.Uleb())
	}
}

// cut makes the topmost number one of the type at an offset in its unit: 0 is the type of
// addresses. It stays what it is, extended by its sign.
func (e *evaluator) cut(offset uint64) {
	if offset == 0 || e.err != nil {
		return
	}
	t, err := e.unit.base(dwarf.Offset(offset))
	if err != nil {
		e.fail("%w", err)
		return
	}
	unused := 64 - 8*t.Size
	switch {
	case t.Class != Signed && t.Class != Unsigned && t.Class != Bool && t.Class != Char, t.Size < 1 || t.Size > 8:
		e.fail("it is computed as %s", t.Name)
	case unused > 0:
		right := location.Shr
		if t.Signed {
			right = location.Sar
		}
		n := location.Step{Op: location.Push, Arg: unused}
		e.push(e.pop().With(n, location.Step{Op: location.Shl}, n, location.Step{Op: right}), "")
	}
}
