package bpf

import "github.com/waymark-trace/waymark/internal/filter"

// packer puts pieces into programs: equal ones once, and no more in a program than its jumps can
// reach and the kernel verifies.
type packer struct {
	base     traceProgram
	programs [][]piece
	size     int // instructions of the last program
	known    map[string][2]int
}

func newPacker(base traceProgram) *packer {
	return &packer{base: base, known: map[string][2]int{}}
}

// add returns the program that has a site's piece, and its index there.
func (p *packer) add(s *Site) (program, index int) {
	key := s.Plan.key() + "\x00" + s.Where.key()
	if at, ok := p.known[key]; ok {
		return at[0], at[1]
	}
	one := piece{s.Plan, s.Where}
	size := p.measure(one)
	if len(p.programs) == 0 || p.size+size > maxProgram {
		p.programs, p.size = append(p.programs, nil), 0
	}
	p.size += size
	program = len(p.programs) - 1
	index = len(p.programs[program])
	p.programs[program] = append(p.programs[program], one)
	p.known[key] = [2]int{program, index}
	return program, index
}

const (
	// loopSize is how many instructions a byte of a text takes to compare.
	loopSize = 20
	// verified is how many the verifier may walk for each that a program has.
	verified = 24
)

// dispatchSize is how many instructions a plan takes of the dispatch, at most.
const dispatchSize = 3

// measure returns how many instructions a piece takes at most, dispatch included. The verifier
// walks each byte of a text, up to a million instructions a program; for that loops count more.
func (p *packer) measure(one piece) int {
	a := p.base
	a.sleepable = true // the longer form
	a.where(one.where, "filtered")
	a.plan(0, one.plan)
	size := dispatchSize + one.where.texts()*(filter.MaxText*loopSize/verified)
	for i := range a.ins {
		size += int(a.ins[i].Width())
	}
	return size
}
