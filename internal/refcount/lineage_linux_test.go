package refcount

import "testing"

func TestInherited(t *testing.T) {
	r := raise{base: 1, at: 1000}
	for _, test := range []struct {
		start uint64
		value uint16
		want  bool
	}{
		{500, 2, false}, // it began before
		{998, 9, false},
		{999, 1, false}, // in doubt the value tells
		{999, 2, true},
		{1000, 2, true},
		{1010, 1, false},
		{1010, 2, true},
		{1011, 1, true}, // another tracer has lowered its own by now
		{1011, 0, false},
	} {
		if got := r.inherited(test.start, test.value); got != test.want {
			t.Errorf("child that began at %d with %d: inherited is %t, want %t", test.start, test.value, got, test.want)
		}
	}
}
