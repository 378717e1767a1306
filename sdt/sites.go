package sdt

import (
	"debug/elf"
	"errors"
	"fmt"

	"github.com/waymark-trace/waymark/internal/elffile"
)

// siteReader turns notes into sites.
type siteReader struct {
	f         *File
	im        *elffile.Image
	withDebug bool // symbols of a separate debug file are wanted
	base      Addr // of .stapsdt.base
	hasBase   bool
	seen      map[siteKey]int  // the index of its site
	counters  map[Addr]counter // by the address of the instruction
	operands  int
	unlisted  int // problems over maxProblems
}

// siteKey identifies a site: all its notes have the same.
type siteKey struct {
	provider, name, args string
	address              Addr
}

// counter is the reference counter of a location, and the site that named it.
type counter struct {
	offset Offset
	site   int
}

func (r *siteReader) readSites(found []*elffile.Section) {
	if len(found) == 0 {
		return
	}
	f, im := r.f, r.im
	if im.Type != elf.ET_EXEC && im.Type != elf.ET_DYN {
		r.problem(fmt.Errorf("probes of a file of type %v are not supported: link it first", im.Type))
		return
	}
	var total uint64
	for _, s := range found {
		if total += min(s.Size, maxSectionBytes+1); total > maxSectionBytes {
			r.problem(fmt.Errorf("sections %s of more than %d bytes", notesSection, maxSectionBytes))
			break
		}
		data, err := im.Data(s, maxSectionBytes)
		if err != nil {
			r.problem(fmt.Errorf("reading %s at %#x: %w", notesSection, s.Offset, err))
			continue
		}
		notes, errs := ParseNotes(data, im.Class, im.Order)
		for _, err := range errs {
			r.problem(fmt.Errorf("%s: %w", notesSection, err))
		}
		for _, n := range notes {
			r.add(n)
		}
	}
	r.shareCounters()
	r.resolve(f.Sites)
	if r.unlisted > 0 {
		f.Problems = append(f.Problems, fmt.Errorf("%d more problems", r.unlisted))
	}
}

func (r *siteReader) problem(err error) {
	if len(r.f.Problems) == maxProblems {
		r.unlisted++
		return
	}
	r.f.Problems = append(r.f.Problems, err)
}

func (r *siteReader) add(n Note) {
	s := Site{Note: n, Address: r.rebase(n.Location, n)}
	off, err := r.im.CodeOffset(uint64(s.Address))
	if s.Offset = Offset(off); err != nil {
		r.problem(fmt.Errorf("probe %s:%s at %#x: location %w", clip(n.Provider), clip(n.Name), uint64(s.Address), err))
		return
	}
	key := siteKey{n.Provider, n.Name, n.Args, s.Address}
	first, twice := r.seen[key]
	if twice && r.f.Sites[first].Semaphore == n.Semaphore {
		return // the linker kept a note twice
	}
	if twice {
		r.placeCounter(&s, first)
		return
	}
	r.placeCounter(&s, len(r.f.Sites))
	r.seen[key] = len(r.f.Sites)
	s.Operands = r.parseOperands(n.Args)
	r.f.Sites = append(r.f.Sites, s)
}

// placeCounter finds the counter's offset in the file. The kernel takes one counter for a
// location: it refuses a second one (uprobe_register, -EINVAL). So the first counter is used for all
// sites at the location. The index is the site's, or that of the site that it repeats.
func (r *siteReader) placeCounter(s *Site, index int) {
	if s.Semaphore != 0 {
		at := r.rebase(s.Semaphore, s.Note)
		off, err := counterOffset(r.im, at)
		if err != nil {
			r.problem(fmt.Errorf("probe %s:%s at %#x: reference counter at %#x %w: tracing cannot raise it",
				clip(s.Provider), clip(s.Name), uint64(s.Address), uint64(at), err))
		}
		s.CounterOffset = off
	}
	first, known := r.counters[s.Address]
	if !known || first.offset == 0 && s.CounterOffset != 0 {
		r.counters[s.Address] = counter{s.CounterOffset, index}
		return
	}
	if s.CounterOffset != 0 && s.CounterOffset != first.offset {
		other := r.f.Sites[first.site]
		r.problem(fmt.Errorf("probe %s:%s at %#x: reference counter at file offset %#x is not that of %s:%s at the same location, %#x, which is used",
			clip(s.Provider), clip(s.Name), uint64(s.Address), uint64(s.CounterOffset),
			clip(other.Provider), clip(other.Name), uint64(first.offset)))
	}
}

// shareCounters gives every site the counter of its location, sites before the first that had
// one as well.
func (r *siteReader) shareCounters() {
	for i := range r.f.Sites {
		s := &r.f.Sites[i]
		s.CounterOffset = r.counters[s.Address].offset
	}
}

var errFileOperands = errors.New("the file has too many arguments")

// parseOperands bounds the memory of all operands of a file: texts are far shorter than operands.
func (r *siteReader) parseOperands(args string) []Operand {
	if r.operands >= maxFileOperands && args != "" {
		o := Operand{Text: args}
		o.fail(errFileOperands)
		return []Operand{o}
	}
	ops := parseOperands(r.im.Machine, args)
	r.operands += len(ops)
	return ops
}
