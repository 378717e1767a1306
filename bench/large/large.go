// Package large is generic code of which a large program has a copy for each of its types.
package large

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/simple"
)

// Item is what trees are made of.
type Item interface{ Key() string }

type node[T Item] struct {
	left, right *node[T]
	v           T
}

// Tree is a binary tree of items.
type Tree[T Item] struct {
	root *node[T]
	size int
}

// Put adds an item, or replaces the one with its key.
func (t *Tree[T]) Put(v T) {
	size := t.size
	simple.Anchor1("large:put", "size %d", size)
	at := &t.root
	for *at != nil {
		switch c := cmp.Compare(v.Key(), (*at).v.Key()); {
		case c < 0:
			at = &(*at).left
		case c > 0:
			at = &(*at).right
		default:
			(*at).v = v
			return
		}
	}
	*at = &node[T]{v: v}
	t.size++
}

// Work does what the compiler makes much code of.
func Work[T Item](all []T) string {
	var t Tree[T]
	m := map[string]T{}
	for _, v := range all {
		t.Put(v)
		m[v.Key()] = v
	}
	slices.SortFunc(all, func(a, b T) int { return cmp.Compare(a.Key(), b.Key()) })
	slices.SortStableFunc(all, func(a, b T) int { return strings.Compare(b.Key(), a.Key()) })
	keys := slices.Sorted(maps.Keys(m))
	x := slices.MaxFunc(all, func(a, b T) int { return cmp.Compare(a.Key(), b.Key()) })
	i, _ := slices.BinarySearchFunc(all, x, func(a, b T) int { return cmp.Compare(a.Key(), b.Key()) })
	all = slices.Insert(all, i, x)
	all = slices.DeleteFunc(all, func(v T) bool { return v.Key() == "" })
	b, err := json.Marshal(all)
	return fmt.Sprint(len(keys), t.size, len(b), err)
}
