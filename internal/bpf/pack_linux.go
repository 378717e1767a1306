package bpf

// packer puts plans into programs: equal plans once, and no more in a program than its jumps
// can reach.
type packer struct {
	base     traceProgram
	programs [][]*Plan
	size     int // instructions of the last program
	known    map[string][2]int
}

func newPacker(base traceProgram) *packer {
	return &packer{base: base, known: map[string][2]int{}}
}

// add returns the program that has the plan, and the plan's index in it.
func (p *packer) add(plan *Plan) (program, index int) {
	key := plan.key()
	if at, ok := p.known[key]; ok {
		return at[0], at[1]
	}
	size := p.measure(plan)
	if len(p.programs) == 0 || p.size+size > maxProgram {
		p.programs, p.size = append(p.programs, nil), 0
	}
	p.size += size
	program = len(p.programs) - 1
	index = len(p.programs[program])
	p.programs[program] = append(p.programs[program], plan)
	p.known[key] = [2]int{program, index}
	return program, index
}

// dispatchSize is how many instructions a plan takes of the dispatch, at most.
const dispatchSize = 3

// measure returns how many instructions a plan takes at most, dispatch included.
func (p *packer) measure(plan *Plan) int {
	a := p.base
	a.sleepable = true // the longer form
	a.plan(0, plan)
	size := dispatchSize
	for i := range a.ins {
		size += int(a.ins[i].Width())
	}
	return size
}
