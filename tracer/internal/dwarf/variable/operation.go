package variable

import "github.com/waymark-trace/waymark/tracer/internal/dwarf/location"

// Operations: DWARF 5, 7.7.1, and what gcc wrote before them.
const (
	opAddr          = 0x03
	opDeref         = 0x06
	opConst1u       = 0x08
	opConst8s       = 0x0f
	opConstu        = 0x10
	opConsts        = 0x11
	opDup           = 0x12
	opDrop          = 0x13
	opOver          = 0x14
	opPick          = 0x15
	opSwap          = 0x16
	opRot           = 0x17
	opAbs           = 0x19
	opAnd           = 0x1a
	opMinus         = 0x1c
	opMul           = 0x1e
	opNeg           = 0x1f
	opNot           = 0x20
	opOr            = 0x21
	opPlus          = 0x22
	opPlusUconst    = 0x23
	opShl           = 0x24
	opShr           = 0x25
	opShra          = 0x26
	opXor           = 0x27
	opEq            = 0x29
	opGe            = 0x2a
	opGt            = 0x2b
	opLe            = 0x2c
	opLt            = 0x2d
	opNe            = 0x2e
	opLit0          = 0x30
	opReg0          = 0x50
	opBreg0         = 0x70
	opRegx          = 0x90
	opFbreg         = 0x91
	opBregx         = 0x92
	opPiece         = 0x93
	opDerefSize     = 0x94
	opNop           = 0x96
	opCallFrameCFA  = 0x9c
	opBitPiece      = 0x9d
	opImplicitValue = 0x9e
	opStackValue    = 0x9f
	opImplicitPtr   = 0xa0
	opAddrx         = 0xa1
	opConstx        = 0xa2
	opEntryValue    = 0xa3
	opConstType     = 0xa4
	opRegvalType    = 0xa5
	opDerefType     = 0xa6
	opConvert       = 0xa8
	opReinterpret   = 0xa9
	opFormTLS       = 0x9b
	opGNUTLS        = 0xe0
	opGNUImplicit   = 0xf2
	opGNUEntry      = 0xf3
	opGNUParameter  = 0xfa
	opGNUConvert    = 0xf7
	opGNURegval     = 0xf5
	opGNUDeref      = 0xf6
	opGNUConst      = 0xf4
	opGNUReinterp   = 0xf9
	opGNUVariable   = 0xfd
	opEither        = 0xe1 // nobody's: see certain
)

var binaries = map[byte]location.Op{
	opAnd: location.And, opMinus: location.Sub, opMul: location.Mul, opOr: location.Or, opPlus: location.Add,
	opShl: location.Shl, opShr: location.Shr, opShra: location.Sar, opXor: location.Xor,
	opEq: location.Equal, opLe: location.LessEqual, opLt: location.Less, opNe: location.NotEqual,
}

// step does one operation.
func (e *evaluator) step(op byte) {
	if e.result != nil && op != opPiece && op != opBitPiece && op != opNop {
		e.fail("its expression goes on behind a location")
		return
	}
	if o, ok := binaries[op]; ok {
		e.binary(o)
		return
	}
	switch {
	case op >= opLit0 && op < opLit0+32:
		e.constant(int64(op - opLit0))
	case op >= opReg0 && op < opReg0+32:
		e.inRegister(uint64(op - opReg0))
	case op >= opBreg0 && op < opBreg0+32:
		e.register(uint64(op-opBreg0), e.b.Sleb())
	case op >= opConst1u && op <= opConst8s:
		size := 1 << ((op - opConst1u) / 2)
		if (op-opConst1u)%2 == 1 {
			e.constant(e.b.Int(size))
		} else {
			e.constant(int64(e.b.Uint(size)))
		}
	default:
		e.other(op)
	}
}

func (e *evaluator) other(op byte) {
	switch op {
	case opNop:
	case opAddr:
		e.address(e.b.Uint(8))
	case opAddrx:
		a, err := e.unit.address(e.b.Uleb())
		if err != nil {
			e.fail("%w", err)
			return
		}
		e.address(a)
	case opConstu:
		e.constant(int64(e.b.Uleb()))
	case opConsts:
		e.constant(e.b.Sleb())
	case opDup:
		e.pick(0)
	case opDrop:
		e.pop()
	case opOver:
		e.pick(1)
	case opPick:
		e.pick(int(e.b.Uint(1)))
	case opSwap:
		b, a := e.pop(), e.pop()
		e.push(b.Program, b.text)
		e.push(a.Program, a.text)
	case opRot:
		c, b, a := e.pop(), e.pop(), e.pop()
		e.push(c.Program, c.text)
		e.push(a.Program, a.text)
		e.push(b.Program, b.text)
	case opNeg:
		e.push(e.pop().With(location.Step{Op: location.Neg}), "")
	case opNot:
		v := e.pop()
		if n := len(v.Program); n > 0 && isComparison(v.Program[n-1].Op) { // gcc means 0 and 1 the other way round
			e.fail("the complement of a condition, which has no meaning")
			return
		}
		e.push(v.With(location.Step{Op: location.Not}), "")
	case opGe, opGt: // a >= b is b <= a
		b, a := e.pop(), e.pop()
		e.push(b.Join(a.Program, map[byte]location.Op{opGe: location.LessEqual, opGt: location.Less}[op]), "")
	case opPlusUconst:
		v := e.pop()
		e.push(v.Plus(int64(e.b.Uleb())), "")
	case opDeref:
		e.push(e.pop().With(location.Step{Op: location.Deref, Arg: 8}), "")
	case opDerefSize:
		e.push(e.pop().With(location.Step{Op: location.Deref, Arg: int64(e.b.Uint(1))}), "")
	case opRegx:
		e.inRegister(e.b.Uleb())
	case opBregx:
		n := e.b.Uleb()
		e.register(n, e.b.Sleb())
	case opFbreg:
		e.frameBase(e.b.Sleb())
	case opCallFrameCFA:
		e.cfa()
	case opPiece:
		e.piece(e.b.Uleb())
	default:
		e.rare(op)
	}
}

// rare are operations that end an expression, those with types, and those that say that the
// value is not there.
func (e *evaluator) rare(op byte) {
	switch op {
	case opStackValue:
		v := e.pop()
		text := "computed"
		if n, ok := v.Constant(); ok {
			text = "constant " + itoa(n)
		}
		e.result = &Location{Kind: Value, Program: v.Program, Text: text}
	case opImplicitValue:
		e.result = &Location{Kind: Implicit, Bytes: e.b.Bytes(e.b.Uleb()), Text: "constant"}
	case opConstType, opGNUConst, opRegvalType, opGNURegval, opDerefType, opGNUDeref, opConvert, opGNUConvert, opReinterpret, opGNUReinterp:
		e.typed(op)
	case opEntryValue, opGNUEntry:
		e.fail("only its value at the function's entry is known")
	case opGNUParameter:
		e.fail("it is a parameter that was computed away")
	case opImplicitPtr, opGNUImplicit:
		e.fail("it points to a variable that is not in memory")
	case opGNUVariable:
		e.fail("its value is that of another variable")
	case opEither:
		e.err = errEither
	case opFormTLS, opGNUTLS:
		e.err = errThread
	case opBitPiece:
		e.fail("it is in pieces of bits")
	default:
		e.fail("operation %#x in its expression", op)
	}
}

func isComparison(op location.Op) bool {
	switch op {
	case location.Equal, location.NotEqual, location.Less, location.LessEqual:
		return true
	}
	return false
}
