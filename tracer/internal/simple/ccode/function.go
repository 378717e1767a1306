package ccode

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
)

// function judges the candidates in one function.
func (s *search) function(fn *debuginfo.Scope, table *debuginfo.Lines, declared *declarations, candidates []candidate) {
	lines := rows{table}
	var fl *flow
	var failed error
	for i := range candidates {
		c := &candidates[i]
		if !fn.Has(c.address) {
			continue
		}
		if s.outline {
			code := fn.At(c.address)
			c.out.Refused = append(c.out.Refused, Refusal{Address: c.address, Scope: s.scope(code, declared, c)})
			continue
		}
		if fl == nil && failed == nil {
			fl, failed = readFlow(s.f, fn)
		}
		p := Place{Address: c.address, At: debuginfo.PositionOf(c.address), Code: fn.At(c.address)}
		err := failed
		switch {
		case err != nil:
		case c.mark.Proven:
			err = fl.isInstruction(c.address)
		default:
			err = (&judge{fl, fn, table, *c}).check()
			if err == nil && c.row {
				err = fl.sole(c, candidates)
			}
		}
		if err == nil {
			p.Scope = s.scope(p.Code, declared, c)
		}
		if p.Scope != nil && !c.mark.Proven {
			p.At.Views, p.NoScope = lines.views(c, candidates)
		}
		if err != nil {
			c.out.Refused = append(c.out.Refused, Refusal{c.address, p.Code, s.scope(p.Code, declared, c), err})
			continue
		}
		if !c.mark.Proven {
			p.Address = fl.cheapest(c.address)
		}
		in := fl.code[p.Address]
		p.Cost, p.Instruction = in.cost(), in.code
		switch {
		case p.Scope == nil:
			p.NoScope = errNoScope
		case p.NoScope != nil:
			p.Scope = nil
		}
		c.out.Places = append(c.out.Places, p)
	}
}

var errNoScope = errors.New("of the marker's function nothing is left there that would have variables")

// sole refuses rows of one marker that follow each other in a straight line: gcc has several rows
// for one statement, and a loop that is unrolled has them too.
func (fl *flow) sole(c *candidate, all []candidate) error {
	for i := range all {
		o := &all[i]
		if o.mark != c.mark || o.address == c.address {
			continue
		}
		from, to := min(o.address, c.address), max(o.address, c.address)
		straight := true
		for at := from; at != to && straight; {
			in := fl.code[at]
			if straight = in != nil && in.falls && !in.jumps && (at == from || len(fl.into[at]) == 0) && at < to; straight {
				at += uint64(in.size)
			}
		}
		if straight && len(fl.into[to]) == 0 {
			return errSeveral
		}
	}
	return nil
}

var errSeveral = errors.New("the line table has several rows of it in a straight line, which may be one copy or several: include/waymark/simple.h says where each copy is")

// scope returns the scope of the mark's variables: around the instruction, in the function that
// the mark's line is in. The instruction itself may be of a function that is called behind
// the mark, or around it, when nothing is left of the mark's function there.
func (s *search) scope(at *debuginfo.Scope, declared *declarations, c *candidate) *debuginfo.Scope {
	for at != nil {
		fn := at.Function()
		if fn == nil {
			return nil
		}
		if s.isIn(fn, declared, c) {
			return at
		}
		at = fn.Parent
	}
	return nil
}

func (s *search) isIn(fn *debuginfo.Scope, declared *declarations, c *candidate) bool {
	if c.mark.Functions != nil {
		name := s.f.Name(fn)
		linked, _ := s.f.Origin(fn.Entry, dwarf.AttrLinkageName).(string)
		return slices.Contains(c.mark.Functions, name) || linked != "" && slices.Contains(c.mark.Functions, linked)
	}
	at, ok := declared.of(fn)
	if !ok || at.file != c.file || at.line > int64(c.mark.Line) {
		return false
	}
	if call, ok := fn.Entry.Val(dwarf.AttrCallLine).(int64); ok && !declared.set[at] && call >= int64(c.mark.Line) {
		return false // a function within the function, called behind the mark
	}
	for d := range declared.set {
		if d.file == at.file && d.line > at.line && d.line <= int64(c.mark.Line) {
			return false // the mark is in this one, or behind it
		}
	}
	return true
}

// isInstruction reports what is wrong with an address that is said to be an instruction's.
func (fl *flow) isInstruction(address uint64) error {
	in := fl.code[address]
	if in == nil {
		return errors.New("it is within an instruction")
	}
	if in.cost() == Refused {
		return fmt.Errorf("the kernel takes no probe on an instruction with the prefix %#x", in.prefix)
	}
	return nil
}
