package ccode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
)

const (
	maxFunction = 4 << 20 // bytes of code that are decoded of one
	maxTable    = 4096    // entries of a table of jumps
	maxWays     = 1 << 20 // jumps by tables of one function
)

// flow is the code of one function, and where in it jumps lead.
type flow struct {
	ranges [][2]uint64
	code   map[uint64]*instruction
	order  []uint64            // their addresses, ascending
	into   map[uint64][]uint64 // by the address of an instruction: the jumps that lead there
	leads  map[uint64][]uint64 // the same by the jump: see out
	tables []uint64            // jumps by a table, or to where it is not known
	// opaque says that a jump can lead anywhere in it.
	opaque bool
}

// readFlow decodes a function.
func readFlow(f *debuginfo.File, s *debuginfo.Scope) (*flow, error) {
	fl := &flow{ranges: s.Ranges, code: map[uint64]*instruction{}, into: map[uint64][]uint64{}}
	total := uint64(0)
	for _, r := range s.Ranges {
		if r[1] < r[0] || r[1]-r[0] > maxFunction-total {
			return nil, fmt.Errorf("a function of more than %d bytes", maxFunction)
		}
		total += r[1] - r[0]
		code, err := f.Code(r[0], int(r[1]-r[0]))
		if err != nil {
			return nil, err
		}
		for at := 0; at < len(code); {
			in := decode(code[at:min(len(code), at+15)], r[0]+uint64(at))
			if in.size == 0 {
				return nil, fmt.Errorf("the instruction at %#x is not known", in.address)
			}
			fl.code[in.address] = &in
			fl.order = append(fl.order, in.address)
			at += in.size
		}
	}
	slices.Sort(fl.order)
	return fl, fl.link(f)
}

// link notes where each jump leads.
func (fl *flow) link(f *debuginfo.File) error {
	var bases []uint64
	for _, at := range fl.order {
		in := fl.code[at]
		if in.loads != 0 {
			bases = append(bases, in.loads)
		}
		switch {
		case !in.jumps:
		case in.target != 0:
			if fl.has(in.target) {
				if fl.code[in.target] == nil {
					return fmt.Errorf("the jump at %#x leads into an instruction", at)
				}
				fl.into[in.target] = append(fl.into[in.target], at)
			}
		default:
			fl.tables = append(fl.tables, at)
		}
	}
	if len(fl.tables) == 0 {
		return nil
	}
	// A computed jump goes by a table whose address the function loads somewhere. What is no table
	// and yet looks like one adds jumps that there are not, which errs on the safe side.
	slices.Sort(bases)
	targets := map[uint64]bool{}
	for _, base := range slices.Compact(bases) {
		for _, target := range fl.table(f, base) {
			targets[target] = true
		}
	}
	if len(targets)*len(fl.tables) > maxWays {
		return fmt.Errorf("more than %d ways by tables of jumps", maxWays)
	}
	for target := range targets {
		fl.into[target] = append(fl.into[target], fl.tables...)
	}
	fl.opaque = len(targets) == 0
	return nil
}

func (fl *flow) has(address uint64) bool {
	return slices.ContainsFunc(fl.ranges, func(r [2]uint64) bool { return r[0] <= address && address < r[1] })
}

// table returns where a table of jumps leads: offsets of 4 bytes from its beginning, or addresses.
func (fl *flow) table(f *debuginfo.File, base uint64) []uint64 {
	data := f.Constants(base, maxTable*8)
	read := func(size int, target func([]byte) uint64) []uint64 {
		var all []uint64
		for at := 0; at+size <= len(data) && len(all) < maxTable; at += size {
			to := target(data[at:])
			if !fl.has(to) || fl.code[to] == nil {
				break
			}
			all = append(all, to)
		}
		return all
	}
	if near := read(4, func(b []byte) uint64 { return base + uint64(int64(int32(binary.LittleEndian.Uint32(b)))) }); near != nil {
		return near
	}
	return read(8, binary.LittleEndian.Uint64)
}

// before returns the instruction that ends where another begins, nil when there is none in the
// function.
func (fl *flow) before(address uint64) *instruction {
	i, _ := slices.BinarySearch(fl.order, address)
	if i == 0 {
		return nil
	}
	in := fl.code[fl.order[i-1]]
	if in.address+uint64(in.size) != address {
		return nil
	}
	return in
}

// ways returns how many lead to an address.
func (fl *flow) ways(address uint64) int {
	ways := len(fl.into[address])
	if before := fl.before(address); before != nil && before.falls || address == fl.order[0] {
		ways++
	}
	return ways
}

// bypasses reports which of some jumps are reached from the function's entries without passing
// an address.
func (fl *flow) bypasses(address uint64, jumps []uint64) []uint64 {
	seen := map[uint64]bool{address: true}
	var work []uint64
	visit := func(to uint64) {
		if fl.code[to] != nil && !seen[to] {
			seen[to] = true
			work = append(work, to)
		}
	}
	for _, at := range fl.entries() {
		visit(at)
	}
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		for _, to := range fl.next(fl.code[at]) {
			visit(to)
		}
	}
	var all []uint64
	for _, j := range jumps {
		if seen[j] && j != address {
			all = append(all, j)
		}
	}
	return all
}

// entries returns where code is entered of which no jump is known: the function's beginning, handlers
// of exceptions.
func (fl *flow) entries() []uint64 {
	var all []uint64
	for i, at := range fl.order {
		in := fl.before(at)
		if i == 0 || (in == nil || !in.falls) && len(fl.into[at]) == 0 {
			all = append(all, at)
		}
	}
	return all
}

// out returns where each jump leads. The flow is complete by then.
func (fl *flow) out() map[uint64][]uint64 {
	if fl.leads == nil {
		fl.leads = map[uint64][]uint64{}
		for to, from := range fl.into {
			for _, j := range from {
				fl.leads[j] = append(fl.leads[j], to)
			}
		}
	}
	return fl.leads
}

// next returns what may be executed behind an instruction.
func (fl *flow) next(in *instruction) []uint64 {
	next := fl.out()[in.address]
	if in.falls {
		next = append(next[:len(next):len(next)], in.address+uint64(in.size))
	}
	return next
}

var errOpaque = errors.New("a computed jump of the function can lead there past the marker")
