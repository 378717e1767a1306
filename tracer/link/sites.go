package link

import (
	"debug/gosym"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/waymark-trace/waymark/internal/markerabi"
)

// siteAt is one place in the code that tests a marker's armed word.
type siteAt struct {
	addr     uint64
	call     bool // Mark is called there, not inlined
	function string
	file     string
	line     int
}

// code finds the references to markers in the program's text.
type code struct {
	img      *image
	funcs    *gosym.Table
	markers  []*markerAt // by address
	low      uint64      // markers lie in low … high
	high     uint64
	inlined  *inlining
	budget   int // of bytes to decode: functions overlap in hostile files only
	captured int // of bytes to decode in functions of closures
	seen     map[siteOfMarker]bool
}

type siteOfMarker struct {
	*markerAt
	siteAt
}

func newCode(img *image, funcs *gosym.Table) *code {
	c := &code{img: img, funcs: funcs, seen: make(map[siteOfMarker]bool)}
	if funcs != nil {
		c.inlined = img.inlining(funcs)
	}
	return c
}

// findSites fills in the sites and the argument types of every marker.
//
// Go code refers to a package-level variable by a 32-bit displacement from the program
// counter, so every displacement that would land on a marker is tried, and the functions
// with such hits are decoded to see which are real. This takes no symbols.
func (img *image) findSites(markers []*markerAt) (err error) {
	defer func() { // debug/gosym panics on some malformed tables
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: its function table: %v", ErrLayout, r)
		}
	}()
	c := newCode(img, img.functions())
	c.markers = markers
	c.low, c.high = markers[0].addr, markers[len(markers)-1].addr+markerabi.HeaderSize
	text := img.at(img.anchor.text, img.anchor.etext-img.anchor.text)
	if text == nil || c.funcs == nil {
		return fmt.Errorf("%w: it has no function table", ErrLayout)
	}
	c.budget, c.captured = 2*len(text), len(text)
	wanted := func(to uint64) bool { return to-c.low < c.high-c.low && c.marker(to) != nil }
	return img.references(c.funcs, text, wanted, func(fn *gosym.Func) error {
		if c.budget -= int(min(fn.End-fn.Entry, maxFunction)); c.budget < 0 {
			return fmt.Errorf("%w: its functions overlap", ErrLayout)
		}
		c.scan(fn)
		return nil
	})
}

// references calls found, once each, with the functions that may refer to a wanted address.
func (img *image) references(funcs *gosym.Table, text []byte, wanted func(uint64) bool, found func(*gosym.Func) error) (err error) {
	scanned := make(map[uint64]bool)
	img.arch.references(text, img.anchor.text, wanted, func(at uint64) {
		fn := funcs.PCToFunc(at)
		if fn == nil || scanned[fn.Entry] || err != nil {
			return
		}
		scanned[fn.Entry] = true
		err = found(fn)
	})
	return err
}

// functions reads the program's own function table, which stripping leaves.
func (img *image) functions() *gosym.Table {
	if img.funcs != nil {
		return img.funcs
	}
	a := &img.anchor
	pclntab := img.at(a.pclntab, a.epclntab-a.pclntab)
	if pclntab == nil {
		return nil
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(pclntab, a.text))
	if err != nil {
		return nil
	}
	img.funcs = table
	return table
}

// marker returns the marker whose header holds addr.
func (c *code) marker(addr uint64) *markerAt {
	i := sort.Search(len(c.markers), func(i int) bool { return c.markers[i].addr > addr })
	if i == 0 || addr-c.markers[i-1].addr >= markerabi.HeaderSize {
		return nil
	}
	return c.markers[i-1]
}

// maxFunction bounds the decoding of one function, in bytes.
const maxFunction = 4 << 20

// scan decodes one function and notes its sites, and what its calls say about types.
func (c *code) scan(fn *gosym.Func) {
	made := &closures{open: make(map[uint64]*closure)}
	c.scanWith(fn, nil, func(s step, pcs []uint64) {
		if s.writes != 0 {
			made.stored(pcs[len(pcs)-1], &s, c.function(s.word))
		}
	}, nil)
	c.scanClosures(fn, made.all)
}

// scanWith does so for a function that is called with a closure, nil if it is not known. It calls also with
// each step, if it is not nil, and notes what named makes of a site.
func (c *code) scanWith(fn *gosym.Func, closure map[uint64]uint64, also func(s step, pcs []uint64), named func(siteAt) siteAt) {
	if fn.End < fn.Entry || fn.End-fn.Entry > maxFunction {
		return
	}
	text := c.img.at(fn.Entry, fn.End-fn.Entry)
	add := func(m *markerAt, s siteAt) {
		if named != nil {
			s = named(s)
		}
		if seen := (siteOfMarker{m, s}); !c.seen[seen] {
			c.seen[seen] = true
			m.sites = append(m.sites, s)
		}
	}
	c.img.arch.walk(fn.Entry, text, c.around(closure), func(s step, pcs []uint64) {
		if m := c.marker(s.reads); m != nil && s.reads == m.counter() && s.reads != 0 {
			add(m, c.site(pcs, fn, false))
		}
		if method, ok := c.method(s.calls); ok {
			c.learn(s, method)
			if m := c.marker(s.receiver); m != nil && m.addr == s.receiver && method == "Mark" {
				add(m, c.site(pcs, fn, true))
			}
		}
		if m := c.marker(s.address); m != nil && m.taken == nil {
			at := c.site(pcs, fn, false)
			m.taken = &at
		}
		if also != nil {
			also(s, pcs)
		}
	})
}

// around returns what is known about a function from outside of its code.
func (c *code) around(closure map[uint64]uint64) around {
	return around{closure, c.constant, c.preserves}
}

// constant returns a word of a generic dictionary, whose first words point to those of the functions that the
// generic one calls.
func (c *code) constant(addr uint64) (uint64, bool) {
	for arity := 1; arity <= markerabi.MaxArity; arity++ {
		if c.img.dictionary(addr, arity) != nil {
			return c.img.pointer(addr)
		}
	}
	return 0, false
}

// preserves reports whether a function leaves registers as they are. Those of the write barrier do, but for R11, and the compiler calls them between the stores into a closure.
func (c *code) preserves(entry uint64) bool {
	fn := c.function(entry)
	return fn != nil && strings.HasPrefix(fn.Name, "runtime.gcWriteBarrier")
}

// function returns the function that begins at an address, nil for none.
func (c *code) function(entry uint64) *gosym.Func {
	if entry == 0 || entry-c.img.anchor.text >= c.img.anchor.etext-c.img.anchor.text {
		return nil
	}
	if fn := c.funcs.PCToFunc(entry); fn != nil && fn.Entry == entry {
		return fn
	}
	return nil
}

// method returns the name of the marker method that begins at an address.
func (c *code) method(entry uint64) (method string, ok bool) {
	if entry == 0 {
		return "", false
	}
	fn := c.funcs.PCToFunc(entry)
	if fn == nil {
		return "", false
	}
	rest, ok := strings.CutPrefix(fn.Name, methodPrefix)
	if !ok {
		return "", false
	}
	i := strings.LastIndex(rest, ").")
	return rest[i+2:], i >= 0
}

// methodPrefix begins the names of the methods of Marker0 … Marker8.
const methodPrefix = "github.com/waymark-trace/waymark/marker.(*Marker"

// learn takes the argument types from the dictionary of a call of a marker's method: by Go's
// internal ABI it comes behind the receiver.
func (c *code) learn(s step, method string) {
	m := c.marker(s.receiver)
	if m == nil || m.addr != s.receiver || m.arity == 0 || s.second == 0 {
		return
	}
	args := c.img.dictionary(s.second, m.arity)
	switch {
	case args == nil:
	case m.args == nil && !m.disputed:
		m.args = args
	case !slices.Equal(m.args, args):
		m.args, m.disputed = nil, true
	}
}

// site describes the place of the last of pcs, instructions of fn.
//
// The line table has the line of the inlined Mark there, in package marker itself. The tables of inlined calls have the
// line that Mark is called on. Without them it is taken to be that of the last instruction before it that is not of
// these packages: the compiler keeps an instruction of the calling line in front of inlined code.
func (c *code) site(pcs []uint64, fn *gosym.Func, call bool) siteAt {
	s := siteAt{addr: pcs[len(pcs)-1], function: fn.Name, call: call}
	if c.inlined != nil {
		var ok bool
		if s.file, s.line, ok = c.inlined.line(fn, s.addr, isPoint); ok {
			return s
		}
	}
	for _, pc := range slices.Backward(pcs[max(0, len(pcs)-64):]) {
		s.file, s.line, _ = c.funcs.PCToLine(pc)
		if !slices.ContainsFunc(pointSources, func(end string) bool { return strings.HasSuffix(s.file, end) }) {
			break
		}
	}
	return s
}

// pointSources are the ends of the names of the files that hold what is inlined at sites.
var pointSources = []string{
	"/marker/zarity_unsafe.go", "/marker/marker_unsafe.go",
	"/tracepoint/zarity_unsafe.go", "/tracepoint/tracepoint_unsafe.go",
	"/statickey/statickey_unsafe.go",
}
