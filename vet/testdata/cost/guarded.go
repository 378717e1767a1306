package cost

import (
	"fmt"

	"github.com/waymark-trace/waymark/marker"
)

func guarded(s string, n int, verbose bool, m *marker.Marker1[string], list []*marker.Marker1[string]) {
	if text.Enabled() {
		text.Mark(fmt.Sprint(s))
	}
	if n > 0 && (text.Enabled()) && verbose {
		for range n {
			text.Mark("a" + s)
		}
	}
	if text.Enabled() || number.Enabled() {
		d := len(fmt.Sprint(s))
		number.Mark(d + len("b"+s))
		text.Mark("b" + s)
	}
	if !text.Enabled() {
		n++
	} else if verbose {
		text.Mark("c" + s)
	}
	if m.Enabled() {
		m.Mark("d" + s)
	}
	if list[n].Enabled() {
		list[n].Mark("e" + s)
	}
	on := text.Enabled() && verbose
	if on {
		text.Mark("f" + s)
		func() {
			text.Mark("g" + s)
		}()
	}
	switch {
	case text.Enabled():
		text.Mark("h" + s)
	case !m.Enabled(), n == 1:
		m.Mark("i" + s) // want `concatenating strings`
	}
	for text.Enabled() {
		text.Mark("j" + s)
	}
}

func early(s string, n int) {
	for i := range n {
		if !text.Enabled() || i == 3 {
			continue
		}
		text.Mark("a" + s)
	}
	text.Mark("b" + s) // want `concatenating strings`
	if !text.Enabled() {
		return
	}
	defer text.Mark("c" + s)
	if n > 3 {
		text.Mark("d" + s)
	}
}

func notGuarded(s string, n int, m, o *marker.Marker1[string]) {
	if o.Enabled() {
		m.Mark("a" + s) // want `guard it: if m.Enabled`
	}
	if !m.Enabled() {
		m.Mark("b" + s) // want `concatenating strings`
	}
	if m.Enabled() {
		n++
	} else {
		m.Mark("c" + s) // want `concatenating strings`
	}
	if !m.Enabled() {
		n++
	}
	m.Mark("d" + s) // want `concatenating strings`
	{
		m := o
		if m.Enabled() {
			n++
		}
	}
	if !m.Enabled() && n > 3 {
		return
	}
	m.Mark("e" + s) // want `concatenating strings`
}
