package gocode

import (
	"errors"
	"slices"
	"sort"
	"strings"

	"github.com/waymark-trace/waymark/tracer/internal/simple/gosource"
)

// copied is the code of some lines in one copy of a function.
type copied struct {
	*body
	*function
	insts []int // of function.code, ascending
}

func (c *copied) kind(i int) Kind   { return c.code.insts[c.insts[i]].Kind }
func (c *copied) kindOf(w int) Kind { return c.code.insts[w].Kind }
func (c *copied) has(i int) bool    { _, found := slices.BinarySearch(c.insts, i); return found }

// maxFunction bounds the decoding of one function, in bytes.
const maxFunction = 4 << 20

// copies returns the code of lines, by the copies of functions that it is in.
func (f *finder) copies(s *Source, first, last int) ([]*copied, error) {
	by := make(map[*body]*copied)
	var all []*copied
	for line := first; line <= last && line < first+maxLines; line++ {
		for _, row := range f.rows[lineOf{s.Name, line}] {
			fn := f.at(row.low)
			if fn == nil {
				return nil, errors.New("there is code outside of all functions")
			}
			if err := f.decode(fn); err != nil {
				return nil, err
			}
			for i := sort.Search(len(fn.code.insts), func(i int) bool { return fn.code.insts[i].Addr >= row.low }); i < len(fn.code.insts) && row.has(fn.code.insts[i].Addr); i++ {
				in := fn.innermost(fn.code.insts[i].Addr)
				if by[in] == nil {
					by[in] = &copied{body: in, function: fn}
					all = append(all, by[in])
				}
				by[in].insts = append(by[in].insts, i)
			}
		}
	}
	for _, c := range all {
		slices.Sort(c.insts)
	}
	return all, nil
}

func (f *finder) decode(fn *function) error {
	if fn.code == nil && !fn.broken {
		if n := fn.spans[0].high - fn.spans[0].low; n > 0 && n <= maxFunction {
			if text := f.Text(fn.spans[0].low, n); text != nil {
				fn.code = decode(text, fn.spans[0].low, f.Decode)
			}
			if fn.code != nil && fn.code.byTable != nil {
				f.Pointers(fn.spans[0].low, fn.spans[0].high, fn.code.enteredByTable)
			}
		}
		fn.broken = fn.code == nil
	}
	if fn.broken {
		return errors.New("the code of " + fn.origin.name + " has instructions that waymark does not know")
	}
	return nil
}

// callee returns the symbol of the function that a call goes to, "" when it is not known.
func (f *finder) callee(in *Instruction) string {
	if in.Target == 0 {
		return ""
	}
	if fn := f.at(in.Target); fn != nil && fn.spans[0].low == in.Target {
		return fn.origin.name
	}
	return ""
}

// operations are the functions of the runtime that stand for an operation of the language, and
// which the compiler calls without a condition.
var operations = []string{
	"runtime.chansend1", "runtime.chanrecv1", "runtime.chanrecv2", "runtime.closechan", "runtime.newproc", "runtime.gopanic",
	"runtime.deferproc", "runtime.deferprocStack", "runtime.mapassign", "runtime.mapdelete", "runtime.mapaccess",
}

// helpers are those that it calls as it sees fit, which come back and change nothing that the
// program could tell; it makes nothing of them that panics.
var helpers = []string{
	"runtime.newobject", "runtime.conv", "runtime.concat", "runtime.mallocgc", "runtime.memmove", "runtime.memclr", "runtime.memequal",
	"runtime.duff", "runtime.wb", "runtime.typedmemmove", "runtime.race", "runtime.msan", "runtime.asan", "runtime.morestack",
	"runtime.gcWriteBarrier", "gcWriteBarrier", "runtime.slicebytetostring", "runtime.stringtoslicebyte", "runtime.intstring", "memeqbody",
}

func begins(name string, with []string) bool {
	return slices.ContainsFunc(with, func(p string) bool { return strings.HasPrefix(name, p) })
}

func inRuntime(name string) bool {
	return strings.HasPrefix(name, "runtime.") || strings.HasPrefix(name, "internal/runtime/") || strings.HasPrefix(name, "gcWriteBarrier") ||
		strings.HasPrefix(name, "type:") || !strings.Contains(name, ".")
}

// unconditional reports whether an instruction is a call that the source asks for.
func (f *finder) unconditional(in *Instruction) bool {
	if in.Kind != Call {
		return false
	}
	name := f.callee(in)
	if name == "" {
		return in.Target == 0 // through a pointer: a method of an interface, a function value
	}
	return !inRuntime(name) || begins(name, operations)
}

// panics reports whether the code at an address does nothing but panic.
func (f *finder) panics(c *code, addr uint64) bool {
	in := c.until(addr, func(in *Instruction) bool { return in.Kind == Call || in.Kind == Trap })
	return in != nil && (in.Kind == Trap || begins(f.callee(in), []string{"runtime.panic", "runtime.goPanic", "runtime.sigpanic", "runtime.throw"}))
}

// witness returns the first of the instructions that the compiler neither moves nor doubles.
func (f *finder) witness(c *copied, next *gosource.Follow) (w int, reason string) {
	for _, i := range c.insts {
		in := &c.code.insts[i]
		switch {
		case in.Kind == Call && f.unconditional(in):
			if next.Conditional {
				return 0, "calls something on a condition"
			}
			return i, ""
		case in.Kind == Call && !f.panics(c.code, in.Addr) && !begins(f.callee(in), helpers):
			return 0, "calls " + f.callee(in) + ", on conditions of the compiler's own"
		case in.Kind == Return && (next.Returns || next.Rule == gosource.End):
			if next.Calls > 0 && next.Conditional {
				return 0, "calls something on a condition"
			}
			return i, ""
		case in.Kind == Store && next.Stores && !next.Conditional && !f.barrier(c.code, i):
			return i, ""
		}
	}
	return 0, "leaves no code that stays where it is"
}

// barrier reports whether an instruction is in a piece of code that is for the collector: it
// stores pointers into a buffer while that is marking.
func (f *finder) barrier(c *code, i int) bool {
	isBarrier := func(in *Instruction) bool {
		return in.Kind == Call && strings.Contains(f.callee(in), "gcWriteBarrier")
	}
	for j := i; j >= 0 && j > i-piece; j-- { // in this piece, ahead of it
		if isBarrier(&c.insts[j]) {
			return true
		}
		if c.targets[c.insts[j].Addr] != nil || j > 0 && (c.insts[j-1].Kind == Branch || !c.falls(j-1)) {
			break
		}
	}
	stopped := false
	in := c.until(c.insts[i].Addr, func(in *Instruction) bool {
		stopped = stopped || in.Addr != c.insts[i].Addr && c.targets[in.Addr] != nil
		return stopped || isBarrier(in) || in.Kind == Jump
	})
	stopped = stopped || in != nil && in.Kind == Jump
	return in != nil && !stopped
}

// begin returns the address at which the code of a statement begins that has a witness.
func (f *finder) begin(c *copied, w int) (addr uint64, reason string) {
	for _, i := range c.insts {
		if in := &c.code.insts[i]; in.Target != 0 && in.Kind != Call && in.Target <= in.Addr && c.has(max(0, c.code.index(in.Target))) {
			return 0, "is a loop in the code"
		}
	}
	at := w
	for range c.insts { // each round goes at least one instruction up
		first := c.code.first(at)
		for at > first && c.has(at-1) {
			at--
		}
		if at > first {
			break // something else is ahead of it, in the same straight code
		}
		up := f.above(c, at)
		if up < 0 {
			break
		}
		at = up
	}
	for _, i := range c.insts {
		if i >= at {
			break
		}
		if in := &c.code.insts[i]; in.Kind == Branch && (f.panics(c.code, in.Target) || f.panics(c.code, in.end())) {
			return 0, "may panic ahead of what stands for it"
		}
	}
	return c.code.insts[at].Addr, ""
}

// above returns the branch of the same statement that is all that leads to the straight code
// at i: one that may panic instead, or store for the collector as well. -1 for none.
func (f *finder) above(c *copied, i int) int {
	code := c.code
	from := slices.Clone(code.targets[code.insts[i].Addr])
	if i > 0 && code.falls(i-1) && code.insts[i-1].Kind != Call {
		from = append(from, i-1)
	}
	up := -1
	for _, j := range from {
		in := &code.insts[j]
		if !c.has(j) {
			return -1
		}
		if in.Kind == Branch {
			if up >= 0 && up != j {
				return -1
			}
			up = j
			continue
		}
		// The end of a piece for the collector comes back to where its branch goes.
		if !f.barrier(code, j) {
			return -1
		}
	}
	if up < 0 {
		return -1
	}
	other := code.insts[up].Target
	if other == code.insts[i].Addr {
		other = code.insts[up].end()
	}
	if f.panics(code, other) {
		return up
	}
	if k := code.index(other); k >= 0 && f.barrier(code, k) {
		return up
	}
	return -1
}
