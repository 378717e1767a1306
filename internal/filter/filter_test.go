package filter

import (
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// Patterns mean what path.Match says, but that a slash is a character like others.
func TestPatternsMatchAsPathDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(peer.FixedSeed(t, 3), 4))
	some := func(alphabet string, n int) string {
		var b strings.Builder
		for range r.IntN(n) {
			b.WriteByte(alphabet[r.IntN(len(alphabet))])
		}
		return b.String()
	}
	for range 20000 {
		pattern := some("aab*?", 8)
		switch r.IntN(4) {
		case 0:
			pattern += "[a-c]" + some("ab*", 3)
		case 1:
			pattern += `[^b]\*`
		}
		text := some("abcd*", 9)
		want, err := path.Match(pattern, text)
		p, own := glob(pattern)
		if err != nil || own != nil {
			t.Fatalf("%s: %v, path.Match: %v", pattern, own, err)
		}
		if got := p.Match([]byte(text)); got != want {
			t.Fatalf("%q ~ %q is %t, want %t", text, pattern, got, want)
		}
	}
}

// FuzzParse reads arbitrary conditions, binds and decides what can be read.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`a > 4096 && t == "x"`, `!(t ~ "a*[b-c]\\?") || f < 1.5e-3`, "a & 0x4 - -1 >= 'x'", "b", "((", `t ~ "[`, "d > 3ms - 1.5µs", "2h45m >= d"} {
		f.Add(s)
	}
	kinds := map[string]event.Kind{"a": event.Int32, "t": event.String, "f": event.Float32, "b": event.Bool, "d": event.Duration, "none": event.Invalid}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := Parse(s)
		if err == nil {
			var bound *Filter
			bound, err = e.Bind(func(name string) (event.Kind, error) {
				if k, ok := kinds[name]; ok {
					return k, nil
				}
				return 0, &Error{Reason: "no field"}
			})
			if err == nil {
				bound.Eval(func(int) (Value, bool) { return Value{Bits: 7, Text: []byte("abc")}, true })
				return
			}
		}
		if wrong, ok := err.(*Error); !ok || wrong.Column < 1 {
			t.Errorf("%q: error %v names no column", s, err)
		}
	})
}
