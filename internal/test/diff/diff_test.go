package diff_test

import (
	"math"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/diff"
)

type pair struct {
	Name   string
	hidden *int
	Any    any
}

func TestOf(t *testing.T) {
	one, other, two := 1, 1, 2
	for _, tt := range []struct {
		want, got any
		diff      string
	}{
		{nil, nil, ""},
		{7, 7, ""},
		{pair{"a", &one, []int{1}}, pair{"a", &other, []int{1}}, ""},
		{7, 8, "- 7\n+ 8\n"},
		{nil, "x", "- nil\n+ \"x\"\n"},
		{pair{"a", &one, nil}, pair{"b", &two, nil}, "-.Name \"a\"\n-.hidden 1\n+.Name \"b\"\n+.hidden 2\n"},
		{&pair{Any: 1}, &pair{Any: 2}, "-.Any 1\n+.Any 2\n"},
		{[]string{"a", "b"}, []string{"a", "c", "d"}, "-[1] \"b\"\n+[1] \"c\"\n+[2] \"d\"\n"},
		{map[string]int{"a": 1, "b": 2, "c": 3}, map[string]int{"a": 1, "b": 3}, "-[\"b\"] 2\n-[\"c\"] 3\n+[\"b\"] 3\n"},
		{"a\nb\nc", "a\nx\nc", "- line 2: \"b\\n\"\n+ line 2: \"x\\n\"\n"},
		{[]string(nil), []string{}, "- []string(nil)\n+ []string{}\n"},
		{[]any{1}, []any{int64(1)}, "-[]interface {}{1}\n+[]interface {}{1}\n"},
		{math.NaN(), math.NaN(), "-NaN\n+NaN\n"},
	} {
		if got := diff.Of(tt.want, tt.got); got != tt.diff {
			t.Errorf("Of(%#v, %#v):\n%swant\n%s", tt.want, tt.got, got, tt.diff)
		}
	}
}
