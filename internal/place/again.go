package place

import (
	"debug/dwarf"
	"slices"

	"github.com/waymark-trace/waymark/internal/debuginfo"
)

// gcc makes a loop of a function that ends in a call of itself (-foptimize-sibling-calls, part of
// -O2), and no assignment to the parameters says so: the debugging information goes on with what they
// were at the first call, in the register, the constant or the stack that the caller left it in.
//
// What tells is that the function's first statement is executed again although the function was not
// entered again, by a call or where it is inlined. gcc marks the beginnings of statements in the line
// table, also where they left no instruction (-gstatement-frontiers, from gcc 8, on as soon as it optimizes).
// When the source's first statement is a loop, `for` and `while` begin once, at a column that is not that
// of the condition; where the compiler lost that, the condition of `for` comes behind the increment, which is
// on its line when the body is not. Other loops at the beginning cannot be told from recursion.

// location is one of the source.
type location struct{ file, line, column int32 }

func locationOf(r *debuginfo.Row) location { return location{r.File, r.Line, int32(r.Column)} }

// beginnings knows of a function, inlined or not, where its statements begin.
type beginnings struct {
	*flow
	events map[uint64][]event
	// What is possible where an address is come to from the instruction before, and by jumps.
	ahead, jumps map[uint64]since
	possible     since             // anywhere
	passed       map[uint64]uint64 // by address: which copy of the marker was passed ahead of it, nil: not asked for yet
	// unknown says that the line table does not tell.
	unknown bool
	// crowded says that the marker is on the first statement's line: they may be of one macro, with a
	// jump from the one to the other.
	crowded bool
}

// beginningsOf reads where the statements of a candidate's function begin. lines are those of its source,
// and of the sources of the functions around it; all is how many candidates there are.
func beginningsOf(fl *flow, fn *debuginfo.Scope, table *debuginfo.Lines, c *candidate, lines [][2]int64, all int) *beginnings {
	b := &beginnings{flow: fl, events: map[uint64][]event{}, unknown: true}
	if table == nil || fl.opaque || fn.LinkTimeByGCC() || tooMany(len(table.Rows), all) {
		return b
	}
	own := map[uint64][]statement{}
	entry, view := entryOf(fn)
	opening, frontiers := location{}, false
	at, n := uint64(0), 0
	for i := range table.Rows {
		r := &table.Rows[i]
		if n++; r.Address != at || i == 0 || table.Rows[i-1].End {
			at, n = r.Address, 0
		}
		frontiers = frontiers || !r.Stmt && !r.End
		if r.End || !r.Stmt || !fl.has(at) {
			continue
		}
		s := statement{locationOf(r), n}
		if at == entry && n == view {
			opening = s.location
		}
		within := func(lines [2]int64) bool { return lines[0] <= int64(r.Line) && int64(r.Line) < lines[1] }
		here := r.File >= 0 && table.Names[r.File] == c.file
		switch {
		case here && within(lines[0]), at == entry && n == view:
			own[at] = append(own[at], s)
		case here && slices.ContainsFunc(lines[1:], within):
			b.events[at] = append(b.events[at], event{view: n, opens: true})
		}
	}
	start := fl.start(entry, view, opening, own)
	if b.unknown = !frontiers || start.column == 0; b.unknown {
		return b
	}
	b.crowded = int(start.line) == c.mark.Line
	inlined := fn.Entry.Tag == dwarf.TagInlinedSubroutine
	for at, all := range own {
		for _, s := range all {
			e := event{view: s.view, opens: s.location == opening, first: s.location == start, line: s.line == start.line}
			e.right = e.line && s.column > start.column
			if inlined || !e.opens {
				b.events[at] = append(b.events[at], e)
			}
		}
		slices.SortFunc(b.events[at], func(a, b event) int { return a.view - b.view })
	}
	begin, _ := entryOf(fn.Outermost())
	b.solve(begin)
	return b
}

// statement is one that begins at an address.
type statement struct {
	location
	view int
}

// start returns where the statement is that the code comes to first behind an opening.
func (fl *flow) start(at uint64, view int, opening location, own map[uint64][]statement) location {
	if opening == (location{}) {
		return opening
	}
	for range maxPrologue {
		for _, s := range own[at] {
			if s.view > view && s.location != opening {
				return s.location
			}
		}
		view = -1
		in := fl.code[at]
		switch {
		case in == nil, in.jumps && (in.falls || in.target == 0):
			return location{}
		case in.jumps:
			at = in.target
		default:
			at += uint64(in.size)
		}
	}
	return location{}
}

// maxPrologue bounds the instructions ahead of a function's first statement.
const maxPrologue = 1024

// entryOf returns where a function is entered, and the number of the statement there.
func entryOf(fn *debuginfo.Scope) (address uint64, view int) {
	if a, ok := fn.Entry.Val(dwarf.AttrEntrypc).(uint64); ok {
		n, _ := fn.Entry.Val(attrEntryView).(int64)
		return a, int(n)
	}
	if a, ok := fn.Entry.Val(dwarf.AttrLowpc).(uint64); ok && fn.Entry.Val(dwarf.AttrRanges) == nil {
		return a, 0
	}
	return fn.Ranges[0][0], 0
}

const attrEntryView = dwarf.Attr(0x2138) // DW_AT_GNU_entry_view

// solve follows the code from its entries.
func (b *beginnings) solve(start uint64) {
	b.ahead, b.jumps = map[uint64]since{}, map[uint64]since{}
	var work []uint64
	reach := func(states map[uint64]since, to uint64, s since) {
		if b.code[to] != nil && states[to]|s != states[to] {
			states[to] |= s
			work = append(work, to)
		}
	}
	out := b.out()
	run := func() (all since) {
		for len(work) > 0 {
			at := work[len(work)-1]
			work = work[:len(work)-1]
			s := b.at(at, nil)
			all |= s
			if in := b.code[at]; in.falls {
				reach(b.ahead, at+uint64(in.size), s)
			}
			for _, to := range out[at] {
				if b.crowded && to <= at && s&first != 0 {
					s = s&^first | beside
				}
				reach(b.jumps, to, s)
			}
		}
		return all
	}
	reach(b.ahead, start, entered)
	others := slices.DeleteFunc(b.entries(), func(at uint64) bool { return at == start })
	for range 2 { // handlers of exceptions are reached from anywhere
		b.possible |= run()
		for _, at := range others {
			reach(b.jumps, at, b.possible|past)
		}
	}
	b.possible |= run()
}

// at returns what is possible behind the statements of an address, and tells each what is possible ahead of
// all and behind each. A jump may lead behind some of them: nothing says so, but that matters only where the
// function is entered.
func (b *beginnings) at(address uint64, each func(view int, s since)) since {
	ahead, jumped := b.ahead[address], b.jumps[address]
	if each != nil {
		each(-1, ahead|jumped)
	}
	for _, e := range b.events[address] {
		ahead = e.after(ahead)
		if behind := e.after(jumped); e.opens {
			jumped |= behind
		} else {
			jumped = behind
		}
		if each != nil {
			each(e.view, ahead|jumped)
		}
	}
	return ahead | jumped
}

// again reports whether the function may have begun again when a candidate is passed.
func (b *beginnings) again(c *candidate, views [2]int, copies int) bool {
	if b.unknown {
		return copies > 1 || b.opaque || b.loops()
	}
	var all since
	b.at(c.address, func(view int, s since) {
		switch {
		case views[0] == NoView, views[0] < view && view <= views[1]:
			all |= s
		case view <= views[0]:
			all = s
		}
	})
	return all == 0 || all&again != 0 || b.possible&again != 0 && b.isPassed(c)
}

// isPassed reports whether another copy of the marker leads to a candidate. When the function begins again somewhere,
// that may be a pass of which gcc made a copy without the first statement, since it knew the outcome, or has it further down.
func (b *beginnings) isPassed(c *candidate) bool {
	if b.passed == nil {
		b.passed = map[uint64]uint64{}
		var work []uint64
		pass := func(to, from uint64) {
			before, seen := b.passed[to]
			switch {
			case !seen:
				b.passed[to] = from
			case before == several || before == from:
				return
			default:
				b.passed[to] = several
			}
			work = append(work, to)
		}
		for _, a := range c.mark.At {
			pass(a.Address, a.Address)
		}
		for len(work) > 0 {
			in := b.code[work[len(work)-1]]
			work = work[:len(work)-1]
			if in == nil {
				continue
			}
			from := b.passed[in.address]
			for _, to := range b.next(in) {
				pass(to, from)
			}
		}
	}
	from, ok := b.passed[c.address]
	return ok && from != c.address
}

// several says that more than one copy of a marker leads to an address.
const several = ^uint64(0)

// loops reports whether there is a jump back in the code.
func (fl *flow) loops() bool {
	for to, from := range fl.into {
		if slices.ContainsFunc(from, func(at uint64) bool { return to <= at }) {
			return true
		}
	}
	return false
}
