package ccode

import (
	"cmp"
	"fmt"
	"slices"
)

// stackCode is the code of one function.
type stackCode struct {
	parts  [][]stackOp // each ascending
	states [][]reached // of the instructions of parts
	work   []position
}

type position struct{ part, at int }

// reached is what is known before an instruction.
type reached struct {
	stackState
	times uint8 // how often that changed, 0 for never
}

func (c *stackCode) add(part []stackOp) {
	if len(part) > 0 {
		c.parts, c.states = append(c.parts, part), append(c.states, make([]reached, len(part)))
	}
}

// find returns the instruction at an address.
func (c *stackCode) find(address uint64) (position, bool) {
	for p, part := range c.parts {
		i, ok := slices.BinarySearchFunc(part, address, func(op stackOp, a uint64) int { return cmp.Compare(op.address, a) })
		if ok {
			return position{p, i}, true
		}
	}
	return position{}, false
}

// covers reports whether an address is in a part that is there already.
func (c *stackCode) covers(address uint64) bool {
	return slices.ContainsFunc(c.parts, func(part []stackOp) bool {
		last := &part[len(part)-1]
		return part[0].address <= address && address < last.address+uint64(last.size)
	})
}

// judge returns why the function may have variables below its stack pointer, or nil if it has none.
// whole reports whether the first instruction is the function's entry.
func (c *stackCode) judge(whole bool) error {
	c.flow(whole)
	calls, taken := false, uint64(0)
	for p, part := range c.parts {
		for i := range part {
			op, s := &part[i], c.states[p][i].stackState
			switch op.use(s) {
			case belowStack:
				return fmt.Errorf("the instruction at %#x of its function uses memory below the stack pointer", op.address)
			case mayBelow:
				taken = op.address
			}
			// Where only the return address is on the stack, compilers call nothing but the function of a profiler
			// (-mfentry), which they do not count: the ABI aligns the stack for calls.
			if op.call && s.sp != (pointer{kind: exact}) {
				calls = true
			}
		}
	}
	if !calls && taken != 0 {
		return fmt.Errorf("its function calls no others, and may use memory below the stack pointer by the instruction at %#x", taken)
	}
	return nil
}

var unknownState = stackState{pointer{kind: somewhere}, pointer{kind: somewhere}}

// flow finds the states of all instructions.
func (c *stackCode) flow(whole bool) {
	if len(c.parts) == 0 {
		return
	}
	entry := stackState{sp: pointer{kind: exact}}
	if !whole {
		entry = unknownState
	}
	c.reach(position{}, entry)
	c.follow()
	var heads []position // reached by computed jumps only, or by handlers of exceptions
	s := c.computed()
	for p := range c.parts {
		for i := range c.parts[p] {
			if c.states[p][i].times == 0 {
				heads = append(heads, position{p, i})
				c.reach(position{p, i}, s)
				c.follow()
			}
		}
	}
	for range maxStates { // computed jumps that other computed jumps lead to
		again := c.computed()
		if again == s {
			return
		}
		s = again
		for _, h := range heads {
			c.reach(h, s)
		}
		c.follow()
	}
}

// computed returns the state at all computed jumps that were reached, or an unknown state without
// any.
func (c *stackCode) computed() stackState {
	var s stackState
	found := false
	for p, part := range c.parts {
		for i := range part {
			if !part[i].jumps || part[i].target != 0 || c.states[p][i].times == 0 {
				continue
			}
			if !found {
				s, found = c.states[p][i].stackState, true
			}
			s = s.merge(c.states[p][i].stackState)
		}
	}
	if !found {
		return unknownState
	}
	return s
}

// maxStates bounds how often the state at one instruction changes. After that nothing is known there.
const maxStates = 16

func (c *stackCode) reach(at position, s stackState) {
	have := &c.states[at.part][at.at]
	if have.times > 0 {
		if s = s.merge(have.stackState); s == have.stackState {
			return
		}
	}
	if have.times >= maxStates {
		s = unknownState
		if s == have.stackState {
			return
		}
	} else {
		have.times++
	}
	have.stackState = s
	c.work = append(c.work, at)
}

// follow propagates states along the flow of control.
func (c *stackCode) follow() {
	for len(c.work) > 0 {
		at := c.work[len(c.work)-1]
		c.work = c.work[:len(c.work)-1]
		op := &c.parts[at.part][at.at]
		s := c.states[at.part][at.at].after(op)
		if next := at.at + 1; op.falls && next < len(c.parts[at.part]) {
			c.reach(position{at.part, next}, s)
		}
		if op.jumps && op.target != 0 {
			if to, ok := c.find(op.target); ok {
				c.reach(to, s)
			}
		}
	}
}

// stackUse is how an instruction uses memory of the stack.
type stackUse uint8

const (
	aboveStack stackUse = iota // at or above the stack pointer, or not at all
	mayBelow
	belowStack
)

// use returns how an instruction uses the stack. An index may lead anywhere, and so may an address on the
// stack that gets into another register: compilers compute addresses of variables before they lower the stack
// pointer.
func (op *stackOp) use(s stackState) stackUse {
	use := aboveStack
	if op.takes == stack && op.bp != fromStack || op.takes == frame && op.sp != fromFrame && s.bp.kind != elsewhere {
		use = mayBelow
	}
	of, from := op.access, s.sp
	if of.base == frame {
		from = s.bp
	}
	switch {
	case of.base == none, from.kind == elsewhere, op.lea && (known(op.sp) || known(op.bp)): // it sets one of the two
		return use
	case of.indexed, op.lea:
		return mayBelow
	case of.base == stack && of.disp < 0:
		return belowStack
	case of.base == stack:
		return use
	case from.kind != exact, s.sp.kind == somewhere:
		return mayBelow
	case from.offset+of.disp >= s.sp.offset:
		return use
	case s.sp.kind == exact:
		return belowStack
	}
	return mayBelow
}

// known reports whether a change leaves a pointer at a known distance from another.
func known(c change) bool { return c == add || c == fromStack || c == fromFrame }
