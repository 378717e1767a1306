package model

import (
	"cmp"
	"slices"
	"sync"
)

// CodeSite is a location in a linked Go program that tests whether a marker is armed. All CodeSites
// of a marker call the same stub, which is the marker's own site.
type CodeSite struct {
	Address        uint64
	Function, File string
	Line           int
	Call           bool // it calls Mark, which makes the test
	Optimized      bool // link --optimize rewrote it
}

// Code returns the locations that test the marker, as found by waymark link. It returns none for
// markers of other emitters.
func (m *Marker) Code() (all []CodeSite) {
	for i, r := range m.records {
		if r == nil || slices.Contains(m.records[:i], r) {
			continue
		}
		for _, s := range r.Sites {
			all = append(all, CodeSite(s))
		}
	}
	return all
}

// functions are the functions in the symbol table of a file, by address. They are read on request.
type functions struct {
	once sync.Once
	all  []function
}

type function struct {
	name        string
	begin, size uint64
}

// FunctionAt returns the name of the function at an address of the file, from its symbol table. It
// returns "" if the table has none, or if the file is not the one that Find read.
func (f *File) FunctionAt(address uint64) string {
	f.functions.once.Do(func() {
		f.functions.all = f.readFunctions()
		slices.SortFunc(f.functions.all, func(a, b function) int { return cmp.Compare(a.begin, b.begin) })
	})
	all := f.functions.all
	i, found := slices.BinarySearchFunc(all, address, func(f function, at uint64) int { return cmp.Compare(f.begin, at) })
	if !found {
		i--
	}
	if i < 0 || address-all[i].begin >= max(all[i].size, 1) {
		return ""
	}
	return all[i].name
}
