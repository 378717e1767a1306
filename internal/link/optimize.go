package link

import (
	"cmp"
	"debug/elf"
	"debug/gosym"
	"fmt"
	"slices"
	"sort"

	"golang.org/x/arch/x86/x86asm"

	"github.com/waymark-trace/waymark/internal/markerabi"
)

// optimized is what becomes of the sites of a program.
type optimized struct {
	words     []wordAt
	rewritten []rewritten
	report    []SiteReport // of all places that read an armed word
}

// rewritten is one site that is.
type rewritten struct {
	begin, end uint64 // nothing may enter the code behind begin and before end
	edits      []edit
	site       siteOf
	report     int // index of its report
}

// SiteReport says what became of one place that reads an armed word.
type SiteReport struct {
	Kind      string // "marker", "tracepoint" or "key"
	Name      string // as declared
	Address   uint64
	Function  string
	File      string
	Line      int
	Optimized bool
	Why       string // why it was left generic, "" when it was not
}

// optimize finds the sites of all armed words and proves which can be rewritten.
func (img *image) optimize() (o *optimized, err error) {
	defer func() { // debug/gosym panics on some malformed tables
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: its function table: %v", ErrLayout, r)
		}
	}()
	o = &optimized{words: img.findWords()}
	funcs := img.functions()
	text := img.at(img.anchor.text, img.anchor.etext-img.anchor.text)
	if text == nil || funcs == nil {
		return nil, fmt.Errorf("%w: it has no function table", ErrLayout)
	}
	if len(o.words) == 0 {
		return o, nil
	}
	low, high := o.words[0].addr, o.words[len(o.words)-1].addr
	scanned := make(map[uint64]bool)
	budget := 2 * len(text)
	for i := 0; i+4 <= len(text); i++ {
		// A comparison with an immediate byte ends one byte behind its displacement.
		for _, tail := range [...]uint64{4, 5} {
			to := img.anchor.text + uint64(i) + tail + uint64(int64(int32(le.Uint32(text[i:]))))
			if to < low || to > high || o.word(to) == nil {
				continue
			}
			fn := funcs.PCToFunc(img.anchor.text + uint64(i))
			if fn == nil || scanned[fn.Entry] || fn.End < fn.Entry || fn.End-fn.Entry > maxFunction {
				continue
			}
			scanned[fn.Entry] = true
			if budget -= int(fn.End - fn.Entry); budget < 0 {
				return nil, fmt.Errorf("%w: its functions overlap", ErrLayout)
			}
			o.function(img, funcs, fn)
		}
	}
	img.keepEntered(o)
	slices.SortFunc(o.rewritten, func(a, b rewritten) int {
		return cmp.Or(cmp.Compare(a.site.word, b.site.word), cmp.Compare(a.site.addr, b.site.addr))
	})
	return o, nil
}

func (o *optimized) word(addr uint64) *wordAt {
	i := sort.Search(len(o.words), func(i int) bool { return o.words[i].addr >= addr })
	if i == len(o.words) || o.words[i].addr != addr {
		return nil
	}
	return &o.words[i]
}

// function finds the sites of one function.
func (o *optimized) function(img *image, funcs *gosym.Table, fn *gosym.Func) {
	text := img.at(fn.Entry, fn.End-fn.Entry)
	if text == nil {
		return
	}
	f := decodeFunction(fn.Entry, text)
	if f == nil {
		o.report = append(o.report, SiteReport{Function: fn.Name, Address: fn.Entry, Why: "the function has instructions that link does not know"})
		return
	}
	var pcs []uint64
	for i := range f.insts {
		in := &f.insts[i]
		pc := fn.Entry + uint64(in.at)
		pcs = append(pcs, pc)
		to, relative := pcRelative(&in.Inst, pc)
		w := o.word(to)
		if !relative || w == nil || in.Op == x86asm.LEA {
			continue
		}
		s := (&code{img: img, funcs: funcs}).site(pcs, fn, false)
		r := SiteReport{Kind: w.kind, Name: w.name, Address: pc, Function: s.function, File: s.file, Line: s.line}
		p, why := f.prove(i)
		if img.race {
			why = "a -race build: the detector is to see every load"
		}
		if why == "" {
			edits, site, err := f.rewrite(&p, *w)
			if err == nil {
				o.rewritten = append(o.rewritten, rewritten{pc, fn.Entry + uint64(p.jump.end()), edits, site, len(o.report)})
				r.Optimized = true
			} else {
				why = err.Error()
			}
		}
		r.Why = why
		o.report = append(o.report, r)
	}
}

// keepEntered leaves generic what a pointer in the program's data leads into: a table of jumps
// could, and where those go the code itself does not say.
func (img *image) keepEntered(o *optimized) {
	slices.SortFunc(o.rewritten, func(a, b rewritten) int { return cmp.Compare(a.begin, b.begin) })
	entered := make(map[int]bool)
	check := func(to uint64) {
		i := sort.Search(len(o.rewritten), func(i int) bool { return o.rewritten[i].begin >= to }) - 1
		if i >= 0 && to < o.rewritten[i].end {
			entered[i] = true
		}
	}
	near := func(to uint64) bool { return to-img.anchor.text < img.anchor.etext-img.anchor.text }
	for _, to := range img.relative {
		if near(to) {
			check(to)
		}
	}
	for _, p := range img.loads {
		if p.Flags&elf.PF_X != 0 {
			continue
		}
		seg := img.data[p.Off : p.Off+p.Filesz]
		for at := int((8 - p.Vaddr%8) % 8); at+8 <= len(seg); at += 8 {
			if to := le.Uint64(seg[at:]); near(to) {
				check(to)
			}
		}
	}
	kept := o.rewritten[:0]
	for i, r := range o.rewritten {
		if entered[i] {
			o.report[r.report].Optimized, o.report[r.report].Why = false, "a table of jumps may lead into it"
			continue
		}
		kept = append(kept, r)
	}
	o.rewritten = kept
}

// table encodes the site table.
func (o *optimized) table(anchor uint64, flags uint64) []byte {
	b := make([]byte, markerabi.SitesHeaderSize, markerabi.SitesHeaderSize+len(o.rewritten)*markerabi.SiteSize)
	le.PutUint64(b, markerabi.SitesMagic)
	le.PutUint64(b[markerabi.OffSitesAnchor:], anchor)
	le.PutUint64(b[markerabi.OffSitesCount:], uint64(len(o.rewritten)))
	le.PutUint64(b[markerabi.OffSitesFlags:], flags)
	for _, r := range o.rewritten {
		s := r.site
		var e [markerabi.SiteSize]byte
		le.PutUint64(e[:], s.addr)
		le.PutUint64(e[markerabi.OffSiteWord:], s.word)
		e[markerabi.OffSiteOff], e[markerabi.OffSiteOn] = s.off, s.on
		b = append(b, e[:]...)
	}
	return b
}
