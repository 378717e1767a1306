package debuginfo

import (
	"errors"
	"fmt"
)

// Instructions of unwind tables: DWARF 5, 7.24.
const (
	cfaAdvance    = 0x40 // and these have an operand in their lower six bits
	cfaOffset     = 0x80
	cfaRestore    = 0xc0
	cfaNop        = 0x00
	cfaSetLoc     = 0x01
	cfaAdvance1   = 0x02
	cfaAdvance2   = 0x03
	cfaAdvance4   = 0x04
	cfaOffsetExt  = 0x05
	cfaRestoreExt = 0x06
	cfaUndefined  = 0x07
	cfaSame       = 0x08
	cfaRegister   = 0x09
	cfaRemember   = 0x0a
	cfaRecall     = 0x0b
	cfaDef        = 0x0c
	cfaDefReg     = 0x0d
	cfaDefOffset  = 0x0e
	cfaDefExpr    = 0x0f
	cfaExpr       = 0x10
	cfaOffsetSf   = 0x11
	cfaDefSf      = 0x12
	cfaDefOffSf   = 0x13
	cfaValOffset  = 0x14
	cfaValOffSf   = 0x15
	cfaValExpr    = 0x16
	cfaArgsSize   = 0x2e
)

// maxRemembered bounds how deep frames are remembered; compilers do so once.
const maxRemembered = 64

var errCFAExpression = errors.New("the frame's address is computed by an expression here")

// frameState is how a frame is found at one address.
type frameState struct {
	cfa  CFA
	expr bool
}

// run follows a function's instructions up to pc. They are not followed further than they are
// long, so that a table ends.
func (c *cie) run(b *Buffer, begin, pc uint64) (CFA, error) {
	s, loc := &frameState{}, begin
	var kept []frameState
	for _, part := range []*Buffer{{Data: c.initial}, {Data: b.Bytes(uint64(b.Len()))}} {
		for part.Len() > 0 {
			delta, advances, err := c.step(part, s, &kept)
			if err == nil {
				err = part.Err
			}
			if err != nil {
				return CFA{}, fmt.Errorf("unwind table at %#x: %w", pc, err)
			}
			if advances {
				if loc += delta * c.code; loc > pc || delta*c.code/max(c.code, 1) != delta {
					goto done
				}
			}
		}
	}
done:
	if b.Err != nil {
		return CFA{}, b.Err
	}
	if s.expr {
		return CFA{}, errCFAExpression
	}
	return s.cfa, nil
}

// step does one instruction. Where other registers are kept does not matter here.
func (c *cie) step(b *Buffer, s *frameState, kept *[]frameState) (delta uint64, advances bool, err error) {
	op := byte(b.Uint(1))
	switch op & 0xc0 {
	case cfaAdvance:
		return uint64(op & 0x3f), true, nil
	case cfaOffset:
		b.Uleb()
		return 0, false, nil
	case cfaRestore:
		return 0, false, nil
	}
	switch op {
	case cfaNop:
	case cfaAdvance1, cfaAdvance2, cfaAdvance4:
		return b.Uint(1 << (op - cfaAdvance1)), true, nil
	case cfaRestoreExt, cfaUndefined, cfaSame, cfaArgsSize:
		b.Uleb()
	case cfaOffsetExt, cfaRegister, cfaOffsetSf, cfaValOffset, cfaValOffSf:
		b.Uleb()
		b.Uleb()
	case cfaRemember:
		if len(*kept) == maxRemembered {
			return 0, false, fmt.Errorf("more than %d frames remembered", maxRemembered)
		}
		*kept = append(*kept, *s)
	case cfaRecall:
		if len(*kept) == 0 {
			return 0, false, errors.New("no frame is remembered")
		}
		*s, *kept = (*kept)[len(*kept)-1], (*kept)[:len(*kept)-1]
	case cfaDef:
		s.cfa, s.expr = CFA{b.Uleb(), int64(b.Uleb())}, false
	case cfaDefSf:
		s.cfa, s.expr = CFA{b.Uleb(), b.Sleb() * c.data}, false
	case cfaDefReg:
		s.cfa.Register = b.Uleb()
	case cfaDefOffset:
		s.cfa.Offset = int64(b.Uleb())
	case cfaDefOffSf:
		s.cfa.Offset = b.Sleb() * c.data
	case cfaDefExpr:
		b.Bytes(b.Uleb())
		s.expr = true
	case cfaExpr, cfaValExpr:
		b.Uleb()
		b.Bytes(b.Uleb())
	default: // cfaSetLoc among them, which no compiler of this machine emits
		return 0, false, fmt.Errorf("instruction %#x is not known", op)
	}
	return 0, false, nil
}
