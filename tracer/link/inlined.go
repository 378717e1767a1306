package link

import (
	"bytes"
	"debug/gosym"
	"encoding/binary"
	"sort"
	"strings"
)

// inlining reads the tables by which the Go runtime names inlined functions in tracebacks, and the places that they were
// called at. They are in stripped files too. The layout is that of runtime/symtab.go and symtabinl.go in Go 1.20 to 1.26.
type inlining struct {
	img     *image
	funcs   *gosym.Table
	header  []byte // runtime.pcHeader and the tables after it
	gofunc  uint64 // the address that offsets of a function's data are relative to
	names   []byte
	pctab   []byte
	functab []byte
	count   int // of functions
}

const (
	pclntabMagic = 0xfffffff1 // of Go 1.20 and later

	inlineIndex = 2 // PCDATA_InlTreeIndex
	inlineTree  = 3 // FUNCDATA_InlTree

	// runtime._func
	funcSize    = 44
	offPCData   = 28 // the number of tables of its program counters
	offFuncData = 43 // and of its data

	// runtime.inlinedCall
	inlinedSize   = 16
	offInlinedFn  = 4
	offInlinedAt  = 8
	maxInlined    = 1 << 20 // calls in one function
	maxInlineDeep = 1 << 8
)

// inlining returns the tables, nil if they are not as expected.
func (img *image) inlining(funcs *gosym.Table) *inlining {
	a := &img.anchor
	t := &inlining{img: img, funcs: funcs, header: img.at(a.pclntab, a.epclntab-a.pclntab)}
	if len(t.header) < 72 || le.Uint32(t.header) != pclntabMagic || t.header[7] != 8 {
		return nil
	}
	t.count = int(min(le.Uint64(t.header[8:]), 1<<30))
	t.names, t.pctab, t.functab = t.table(3), t.table(6), t.table(7)
	t.gofunc = img.gofunc()
	if t.gofunc == 0 || len(t.functab) < 8*t.count {
		return nil
	}
	return t
}

// table returns the bytes from one of the header's offsets on.
func (t *inlining) table(i int) []byte {
	off := le.Uint64(t.header[8+8*i:])
	if off > uint64(len(t.header)) {
		return nil
	}
	return t.header[off:]
}

// gofunc returns the address of the functions' data, 0 if it is not found. It is in runtime.moduledata, which begins with the
// address of the table of functions, behind the bounds of the types: types, etypes, rodata, gofunc.
func (img *image) gofunc() (found uint64) {
	const members = 64
	try := func(at uint64) {
		for word := at; word < at+8*members && found == 0; word += 8 {
			types, _ := img.pointer(word)
			etypes, _ := img.pointer(word + 8)
			if types == img.anchor.types && etypes == img.anchor.etypes {
				found, _ = img.pointer(word + 24)
			}
		}
	}
	for at, to := range img.relative {
		if to == img.anchor.pclntab {
			try(at)
		}
	}
	var address [8]byte
	le.PutUint64(address[:], img.anchor.pclntab)
	if len(img.relative) == 0 {
		img.scanData(address[:], try)
	}
	return found
}

// data returns the _func of a function, with the arrays after it.
func (t *inlining) data(entry uint64) []byte {
	off := uint32(entry - t.img.anchor.text)
	i := sort.Search(t.count, func(i int) bool { return le.Uint32(t.functab[8*i:]) >= off })
	if i == t.count || le.Uint32(t.functab[8*i:]) != off {
		return nil
	}
	at := le.Uint32(t.functab[8*i+4:])
	if uint64(at)+funcSize > uint64(len(t.functab)) {
		return nil
	}
	f := t.functab[at:]
	if tables, data := le.Uint32(f[offPCData:]), f[offFuncData]; tables <= inlineIndex || data <= inlineTree || tables > 64 || len(f) < funcSize+4*int(tables)+4*int(data) {
		return nil // it has no inlined calls
	}
	return f
}

// line returns the file and the line at which the code at pc stands in the source of the innermost function that is
// not inside of own packages.
func (t *inlining) line(fn *gosym.Func, pc uint64, own func(function string) bool) (file string, line int, ok bool) {
	f := t.data(fn.Entry)
	for range maxInlineDeep {
		index := int32(-1)
		if f != nil {
			index = t.value(le.Uint32(f[funcSize+4*inlineIndex:]), pc-fn.Entry)
		}
		if index >= 0 {
			tree := le.Uint32(f[funcSize+4*int(le.Uint32(f[offPCData:]))+4*inlineTree:])
			call := t.img.at(t.gofunc+uint64(tree)+uint64(index)*inlinedSize, inlinedSize)
			if tree == ^uint32(0) || index >= maxInlined || call == nil {
				return "", 0, false
			}
			name, at := le.Uint32(call[offInlinedFn:]), le.Uint32(call[offInlinedAt:])
			if uint64(name) >= uint64(len(t.names)) || uint64(at) >= fn.End-fn.Entry {
				return "", 0, false
			}
			text, _, _ := bytes.Cut(t.names[name:min(len(t.names), int(name)+1<<12)], []byte{0})
			if own(string(text)) {
				pc = fn.Entry + uint64(at)
				continue
			}
		}
		file, line, at := t.funcs.PCToLine(pc)
		return file, line, at != nil
	}
	return "", 0, false
}

// value returns what a table of values by program counters has for an offset in its function, -1 for nothing.
func (t *inlining) value(table uint32, off uint64) int32 {
	if table == 0 || uint64(table) >= uint64(len(t.pctab)) {
		return -1
	}
	b, value, end := t.pctab[table:], int32(-1), uint64(0)
	for first := true; ; first = false {
		delta, n := binary.Uvarint(b)
		if n <= 0 || delta == 0 && !first {
			return -1
		}
		value += int32(delta>>1) ^ -int32(delta&1)
		step, m := binary.Uvarint(b[n:])
		if m <= 0 {
			return -1
		}
		b = b[n+m:]
		if end += uint64(step); off < end { // the quantum is 1
			return value
		}
	}
}

// isPoint reports whether a function is one of the packages whose code is inlined at sites.
func isPoint(function string) bool {
	rest, ok := strings.CutPrefix(function, module+"/")
	return ok && (strings.HasPrefix(rest, "marker.") || strings.HasPrefix(rest, "tracepoint.") || strings.HasPrefix(rest, "statickey."))
}
