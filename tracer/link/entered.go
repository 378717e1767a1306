package link

import (
	"cmp"
	"slices"
	"sort"
)

// keepEntered leaves generic what is entered from elsewhere than its own function, whose code alone
// does not say so: what a pointer in the program's data leads into, a table of jumps, or what another
// function jumps into. So it does with what overlaps, in files that contradict themselves.
func (o *optimized) keepEntered() {
	slices.SortFunc(o.rewritten, func(a, b rewritten) int { return cmp.Compare(a.begin, b.begin) })
	why := make([]string, len(o.rewritten))
	for i := 1; i < len(o.rewritten); i++ {
		if o.rewritten[i].begin < o.rewritten[i-1].end {
			why[i], why[i-1] = "it overlaps another", "it overlaps another"
		}
	}
	o.pointers(func(to uint64) {
		if i := o.inside(to); i >= 0 {
			why[i] = "a table of jumps may lead into it"
		}
	})
	o.jumps(why)
	kept := o.rewritten[:0]
	for i, r := range o.rewritten {
		if why[i] != "" {
			o.report[r.report].Optimized, o.report[r.report].Why = false, why[i]
			continue
		}
		kept = append(kept, r)
	}
	o.rewritten = kept
}

// inside returns the index of the one that an address is in, behind its first byte; -1 for none.
func (o *optimized) inside(to uint64) int {
	i := sort.Search(len(o.rewritten), func(i int) bool { return o.rewritten[i].begin >= to }) - 1
	if i < 0 || to >= o.rewritten[i].end {
		return -1
	}
	return i
}

// pointers calls found with everything in the file that could be a pointer into the text.
func (o *optimized) pointers(found func(to uint64)) {
	o.img.pointers(o.img.anchor.text, o.img.anchor.text+uint64(len(o.text)), found)
}

// pointers calls found with everything in the file that could be a pointer from low up to high.
func (img *image) pointers(low, high uint64, found func(to uint64)) {
	for _, to := range img.relative {
		if low <= to && to < high {
			found(to)
		}
	}
	for _, p := range img.loads {
		seg := img.data[p.Offset : p.Offset+p.FileSize]
		for at := int((8 - p.Addr%8) % 8); at+8 <= len(seg); at += 8 {
			if to := le.Uint64(seg[at:]); low <= to && to < high {
				found(to)
			}
		}
	}
}

// jumps notes what other functions jump into or make a pointer into. In those that cannot be decoded, what
// looks like such an instruction is taken for one.
func (o *optimized) jumps(why []string) {
	within := make([]uint64, len(o.text)/64+1) // a bit for each byte
	for _, r := range o.rewritten {
		for to := r.begin + 1; to < r.end; to++ {
			at := to - o.img.anchor.text
			within[at/64] |= 1 << (at % 64)
		}
	}
	into := func(to uint64) bool {
		at := to - o.img.anchor.text
		return at < uint64(len(o.text)) && within[at/64]>>(at%64)&1 != 0
	}
	decoded := make(map[uint64]routine)
	o.img.arch.jumps(o.text, o.img.anchor.text, into, func(end, to uint64) {
		fn := o.funcs.PCToFunc(end - 1)
		if fn != nil && to-fn.Entry < fn.End-fn.Entry {
			return // of its own function prove knows every jump
		}
		if fn != nil {
			f, known := decoded[fn.Entry]
			if !known {
				f, _ = o.decode(fn) // or what it looks like counts
				decoded[fn.Entry] = f
			}
			if f != nil && !f.endsAt(end) {
				return
			}
		}
		why[o.inside(to)] = "another function may jump into it"
	})
}
