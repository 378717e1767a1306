package ccode

// stackState is what is known about two registers before an instruction.
type stackState struct{ sp, bp pointer }

// pointer is a register that may point to the function's stack. Offsets are relative to the stack
// pointer at the function's entry.
type pointer struct {
	kind   pointerKind
	offset int64
}

type pointerKind uint8

const (
	elsewhere pointerKind = iota // not into this function's stack
	exact                        // at the offset
	atMost                       // at the offset or below
	somewhere                    // anywhere in the stack
)

// maxOffset bounds known offsets. Loops that push or pop reach it.
const maxOffset = 1 << 16

func (p pointer) plus(by int64) pointer {
	if p.kind != exact && p.kind != atMost {
		return p
	}
	if p.offset += by; p.offset > maxOffset {
		return pointer{kind: somewhere}
	}
	if p.offset < -maxOffset*maxOffset {
		return pointer{atMost, 0}
	}
	return p
}

// merge returns what holds on both of two ways to an instruction.
func (p pointer) merge(o pointer) pointer {
	switch {
	case p == o:
		return p
	case p.kind == elsewhere || o.kind == elsewhere || p.kind == somewhere || o.kind == somewhere:
		return pointer{kind: somewhere}
	}
	return pointer{atMost, max(p.offset, o.offset)}
}

func (s stackState) merge(o stackState) stackState {
	return stackState{s.sp.merge(o.sp), s.bp.merge(o.bp)}
}

// after returns the state after an instruction.
func (s stackState) after(op *stackOp) stackState {
	return stackState{s.sp.changed(op.sp, op.by, s, pointer{kind: somewhere}), s.bp.changed(op.bp, op.by, s, pointer{})}
}

// changed returns a pointer after its change. Without relation to a known pointer it becomes other.
func (p pointer) changed(c change, by int64, s stackState, other pointer) pointer {
	switch c {
	case kept:
		return p
	case add:
		return p.plus(by)
	case fromStack:
		return s.sp.plus(by)
	case fromFrame:
		if s.bp.kind != elsewhere {
			return s.bp.plus(by)
		}
	case lowered:
		if p.kind == exact {
			p.kind = atMost
		}
		return p
	}
	return other
}
