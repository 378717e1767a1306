package place

import "testing"

// What is executed of functions that gcc made loops of, or that begin with loops, as statements of the line table.
func TestSince(t *testing.T) {
	enter := event{opens: true}
	one := event{first: true, line: true}
	increment := event{right: true, line: true}
	sameLine := event{line: true}
	other := event{}
	for _, tt := range []struct {
		name string
		code []event
		want since
	}{
		{"nothing", nil, entered},
		{"the first statement", []event{one}, first},
		{"and another line", []event{one, other}, past},
		{"a call of itself made a jump", []event{one, other, one}, again},
		{"which stays", []event{one, other, one, other}, again},
		{"until the function is entered", []event{one, other, one, enter}, entered},
		{"a call of itself on the first line", []event{one, sameLine, one}, again},
		{"the first statement in two pieces", []event{one, one}, first},
		{"a loop: the condition behind the increment", []event{one, other, increment, one}, first},
		{"twice", []event{one, other, increment, one, other, increment, one, other}, past},
		{"an increment on the first line, before anything else", []event{one, increment}, beside},
		{"in an inlined copy, entered twice", []event{enter, one, other, enter, one}, first},
	} {
		s := entered
		for _, e := range tt.code {
			s = e.after(s)
		}
		if s != tt.want {
			t.Errorf("%s: %06b, want %06b", tt.name, s, tt.want)
		}
	}
	// Where ways join, each is followed.
	if got, want := one.after(first|past|head), first|again; got != want {
		t.Errorf("ways that join: %06b, want %06b", got, want)
	}
}
