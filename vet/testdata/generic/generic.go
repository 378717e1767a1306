// Package generic has type parameters where types are expected.
package generic

import "github.com/waymark-trace/waymark/marker"

var count = marker.New1[int]("generic:count", "n %d")

func hit[T marker.Basic](v T, render func(T) string) {
	var local = marker.New1[T]("generic:local", "n %s %s") // want `marker "generic:local": made in a function`
	local.Mark(v)
	local.Mark(T(v))
	count.Mark(int(1))
}

type list[T any] struct {
	items []T
	first *marker.Marker1[int]
}

func (l *list[T]) add(v T) {
	l.items = append(l.items, v)
	count.Mark(len(l.items))
	l.first.Mark(cap(l.items))
}

func convert[T ~string | ~[]byte](v T) {
	count.Mark(len(string(v)))
}
