package gocode

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
)

// langGo is DW_LANG_Go. (DWARF 5, 7.12)
const langGo = 0x16

// span is a range of addresses, [low, high).
type span struct{ low, high uint64 }

func (s span) has(addr uint64) bool { return s.low <= addr && addr < s.high }

// lineOf is a line of a source file.
type lineOf struct {
	file string
	line int
}

// body is a function in the code, or a copy of one that is inlined into another.
type body struct {
	origin *origin
	spans  []span
	depth  int // 0 for a function of its own
}

// origin is what is known of a function, however often its code is there.
type origin struct {
	symbol  string // "main.(*cache[go.shape.int]).get"
	name    string // the same without what it is instantiated with
	file    string // and line of its declaration, "" when only its package is known
	line    int
	inlined bool // somewhere
}

// program is what the debugging information says.
type program struct {
	functions []*function // by address
	origins   map[string][]*origin
	inlinedAt map[lineOf]bool // functions that are inlined on these lines leave code
}

// function is a function with the copies of others that are in it.
type function struct {
	body
	copies []*body
	code   *code // decoded at the first question
	broken bool  // it cannot be decoded
}

// Units are the compilation units of Go code in a file's debugging information.
type Units struct {
	data  *dwarf.Data
	lines debuginfo.LineSections
	size  uint64 // of all entries, in bytes
	units []unit
}

type unit struct {
	entry *dwarf.Entry
	files []*dwarf.LineFile
}

// OpenUnits reads which source files there are. The size is that of .debug_info: a reader of
// package dwarf does not always come to an end (see debuginfo.Functions).
func OpenUnits(data *dwarf.Data, lines debuginfo.LineSections, size uint64) (*Units, error) {
	u := &Units{data: data, lines: lines, size: size}
	err := u.entries(func(e *dwarf.Entry) error {
		if language, _ := e.Val(dwarf.AttrLanguage).(int64); e.Tag != dwarf.TagCompileUnit || language != langGo {
			return nil
		}
		lines, err := debuginfo.LineReader(data, u.lines, e)
		if err != nil || lines == nil {
			return err
		}
		u.units = append(u.units, unit{e, lines.Files()})
		return nil
	})
	return u, err
}

// Files returns the names of all Go source files that code is from, sorted.
func (u *Units) Files() []string {
	seen := make(map[string]bool)
	var names []string
	for _, unit := range u.units {
		for _, f := range unit.files {
			if f != nil && strings.HasSuffix(f.Name, ".go") && !seen[f.Name] {
				seen[f.Name] = true
				names = append(names, f.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// entries calls fn with every entry. It skips no children: Reader.SkipChildren calls itself
// for every level, and hostile entries nest as deep as the file is long.
func (u *Units) entries(fn func(*dwarf.Entry) error) error {
	r := u.data.Reader()
	for range u.size + 1 {
		e, err := r.Next()
		if err != nil || e == nil {
			return err
		}
		if err := fn(e); err != nil {
			return err
		}
	}
	return errors.New("its entries have no end")
}

// rows returns the code of the wanted lines, sorted by address.
func (u *Units) rows(wanted map[lineOf]bool) (map[lineOf][]span, error) {
	files := make(map[string]bool)
	for l := range wanted {
		files[l.file] = true
	}
	rows := make(map[lineOf][]span)
	for _, unit := range u.units {
		if !slices.ContainsFunc(unit.files, func(f *dwarf.LineFile) bool { return f != nil && files[f.Name] }) {
			continue
		}
		lines, err := debuginfo.LineReader(u.data, u.lines, unit.entry)
		if err != nil {
			return nil, err
		}
		var at lineOf
		var from uint64
		open := false
		for {
			var row dwarf.LineEntry
			if err := lines.Next(&row); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if open && row.Address > from {
				rows[at] = append(rows[at], span{from, row.Address})
			}
			open = false
			if row.File != nil && !row.EndSequence {
				at, from = lineOf{row.File.Name, row.Line}, row.Address
				open = wanted[at]
			}
		}
	}
	for _, spans := range rows {
		slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.low, b.low) })
	}
	return rows, nil
}

// read reads the functions, and of those that have one of the rows what is inlined into them.
func (u *Units) read(rows map[lineOf][]span) (*program, error) {
	p := &program{origins: make(map[string][]*origin), inlinedAt: make(map[lineOf]bool)}
	var all []span
	for _, spans := range rows {
		all = append(all, spans...)
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.low, b.low) })
	wanted := func(s span) bool {
		i := sort.Search(len(all), func(i int) bool { return all[i].low >= s.low })
		return i < len(all) && all[i].low < s.high
	}
	byOffset := make(map[dwarf.Offset]*origin)
	type pending struct {
		body *body
		at   dwarf.Offset
		call lineOf
	}
	var later []pending // what refers to an entry that may be behind it
	next := 0
	var files []*dwarf.LineFile
	var current *function
	depth, outer := 0, 0
	err := u.entries(func(e *dwarf.Entry) error {
		at := depth
		switch {
		case e.Tag == 0:
			depth--
			return nil
		case e.Children:
			depth++
		}
		switch e.Tag {
		case dwarf.TagCompileUnit:
			files, current, outer = nil, nil, 0
			if depth = 0; e.Children {
				depth = 1
			}
			if next < len(u.units) && u.units[next].entry.Offset == e.Offset {
				files = u.units[next].files
				next++
			}
		case dwarf.TagSubprogram:
			current, outer = nil, at
			if files == nil {
				return nil
			}
			name, _ := e.Val(dwarf.AttrName).(string)
			line, _ := e.Val(dwarf.AttrDeclLine).(int64)
			o := &origin{symbol: name, name: uninstantiated(name), line: int(line)}
			if file, ok := e.Val(dwarf.AttrDeclFile).(int64); ok && file >= 0 && file < int64(len(files)) && files[file] != nil {
				o.file = files[file].Name
			}
			from, concrete := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
			if name != "" {
				byOffset[e.Offset] = o
				p.origins[o.name] = append(p.origins[o.name], o)
				_, o.inlined = e.Val(dwarf.AttrInline).(int64)
			}
			low, ok := e.Val(dwarf.AttrLowpc).(uint64)
			if !ok {
				return nil
			}
			fn := &function{body: body{origin: o}}
			switch high := e.Val(dwarf.AttrHighpc).(type) {
			case uint64:
				fn.spans = []span{{low, high}}
			case int64:
				fn.spans = []span{{low, low + uint64(high)}}
			default:
				return nil
			}
			p.functions = append(p.functions, fn)
			if concrete {
				later = append(later, pending{body: &fn.body, at: from})
			}
			if wanted(fn.spans[0]) {
				current = fn
			}
		case dwarf.TagInlinedSubroutine:
			if current == nil || at <= outer {
				return nil
			}
			from, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
			if !ok {
				return nil
			}
			ranges, err := u.data.Ranges(e)
			if err != nil {
				return err
			}
			b := &body{depth: at}
			for _, r := range ranges {
				b.spans = append(b.spans, span{r[0], r[1]})
			}
			call := lineOf{}
			file, _ := e.Val(dwarf.AttrCallFile).(int64)
			line, _ := e.Val(dwarf.AttrCallLine).(int64)
			if file > 0 && file < int64(len(files)) && files[file] != nil {
				call = lineOf{files[file].Name, int(line)}
			}
			current.copies = append(current.copies, b)
			later = append(later, pending{b, from, call})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, l := range later {
		o := byOffset[l.at]
		if o == nil {
			o = &origin{}
		}
		l.body.origin = o
		if l.call.file != "" {
			p.inlinedAt[l.call] = true
		}
	}
	slices.SortFunc(p.functions, func(a, b *function) int { return cmp.Compare(a.spans[0].low, b.spans[0].low) })
	return p, nil
}

// uninstantiated returns a symbol without the types in brackets that it is instantiated with.
func uninstantiated(name string) string {
	if !strings.Contains(name, "[") {
		return name
	}
	var b strings.Builder
	depth := 0
	for i := range len(name) {
		switch c := name[i]; {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// at returns the function that an address is in, nil for none.
func (p *program) at(addr uint64) *function {
	i := sort.Search(len(p.functions), func(i int) bool { return p.functions[i].spans[0].low > addr }) - 1
	if i < 0 || !p.functions[i].spans[0].has(addr) {
		return nil
	}
	return p.functions[i]
}

// innermost returns the copy of a function that an address is in, or the function itself.
func (f *function) innermost(addr uint64) *body {
	in := &f.body
	for _, b := range f.copies {
		if b.depth >= in.depth && slices.ContainsFunc(b.spans, func(s span) bool { return s.has(addr) }) {
			in = b
		}
	}
	return in
}
