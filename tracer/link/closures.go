package link

import (
	"debug/gosym"
	"maps"
	"strings"
)

// The compiler turns defer m.Mark(x), go m.Mark(x) and the method value m.Mark into closures: a
// function that it adds, named ….deferwrapN, ….gowrapN or …Mark-fm, and after its address the
// captured values, of which the marker's address and the dictionary are two. So the code that tests
// the marker is in a function that does not name it, and the function that names it does not test
// it. To put them together, link follows the stores of addresses in the latter.

// maxCaptured bounds the words of a closure that link follows.
const maxCaptured = 64

// closure is a closure that a function makes.
type closure struct {
	at       uint64 // the address of the instruction that stores the function's address
	function *gosym.Func
	words    map[uint64]uint64 // by offset; 0 for what is not known
}

// closures are those of one function, by what it stores.
type closures struct {
	open map[uint64]*closure // the latest, by its address
	all  []*closure
}

// stored notes a store by the instruction at an address, of a function's address if it is not nil. Closures are
// written from their beginning on, and the stack's memory is used again: a word belongs to the latest closure below it,
// unless that has one there.
func (c *closures) stored(at uint64, s *step, function *gosym.Func) {
	if function != nil {
		made := &closure{at, function, make(map[uint64]uint64)}
		c.open[s.writes] = made
		c.all = append(c.all, made)
		return
	}
	word := s.word
	if s.writes%8 != 0 {
		word = 0
	}
	for addr := s.writes &^ 7; addr < s.writes+s.size; addr += 8 {
		c.word(addr, word)
	}
}

// word notes a word that is stored, 0 for what is not known.
func (c *closures) word(addr, word uint64) {
	for off := uint64(8); off < maxCaptured*8; off += 8 {
		if made := c.open[addr-off]; made != nil {
			if _, written := made.words[off]; !written {
				made.words[off] = word
			}
			return
		}
	}
}

// scanClosures looks for sites in the functions of closures which captured a marker.
func (c *code) scanClosures(maker *gosym.Func, made []*closure) {
	for _, m := range made {
		maps.DeleteFunc(m.words, func(_, word uint64) bool { return word == 0 })
		for _, word := range m.words {
			if at := c.marker(word); at != nil && at.addr == word {
				c.scanClosure(maker, m)
				break
			}
		}
	}
}

// scanClosure looks for sites in the function of one closure.
func (c *code) scanClosure(maker *gosym.Func, made *closure) {
	size := int(min(made.function.End-made.function.Entry, maxFunction))
	if size > c.captured { // in hostile files only
		return
	}
	c.captured -= size
	c.scanWith(made.function, made.words, nil, func(s siteAt) siteAt {
		if isMethodValue(made.function.Name) {
			at := c.site([]uint64{made.at}, maker, s.call)
			s.function, s.file, s.line = at.function, at.file, at.line
		}
		return s
	})
}

// isMethodValue reports whether a function is the one that the compiler makes of m.Mark, which is no call: its
// code is in package marker, so the place where the program made the value stands for its sites.
func isMethodValue(function string) bool {
	return strings.HasPrefix(function, methodPrefix) && strings.HasSuffix(function, "-fm")
}
