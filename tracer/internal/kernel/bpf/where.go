package bpf

import (
	"fmt"

	"github.com/waymark-trace/waymark/internal/filter"
)

// Where is the condition under which hits of a site count. Everything that the condition asks
// for it reads itself, so that any program can begin with it and a hit that fails costs no more.
type Where struct {
	Filter *filter.Filter
	// Vars are where the filter's variables lie, one for each.
	Vars []Part
}

// key is equal for conditions whose code is equal. All come from one expression, so that values
// of equal kinds in equal places make them so.
func (w *Where) key() string {
	if w == nil {
		return ""
	}
	return fmt.Sprint(w.Filter.Vars, w.Vars)
}

// texts is how many texts are compared.
func (w *Where) texts() int {
	if w == nil {
		return 0
	}
	return len(w.Filter.Patterns)
}
