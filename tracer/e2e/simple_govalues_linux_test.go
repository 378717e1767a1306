package e2e

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/link"
)

// goTruth is what the variables of simplegovalues are at a marker's pass, by the source.
func goTruth(marker string, pass int) map[string]string {
	i := pass
	text := func(s string) string { return "text " + hex.EncodeToString([]byte(s)) }
	flag := map[bool]string{true: "1", false: "0"}
	switch marker {
	case "g:registers":
		return map[string]string{"a": fmt.Sprint(i - 1), "b": fmt.Sprint(-i), "s": text("text"), "c": flag[i == 1], "p": "pointer", "d": "250"}
	case "g:slices":
		return map[string]string{"ints": fmt.Sprintf("[%d %d %d]", i, -i, i*1000), "bytes": text("bytes"), "small": fmt.Sprintf("[-1 %d]", i), "len(names)": "1"}
	case "g:structs":
		return map[string]string{"p.X": fmt.Sprint(i), "p.Y": "-5", "req.Method": text("GET"), "req.Length": "-1"}
	case "g:heap":
		return map[string]string{"n": fmt.Sprint(i), "x": fmt.Sprint(i * 7)}
	case "g:loop":
		return map[string]string{"i": fmt.Sprint(i), "v": fmt.Sprint([]int{5, -6, 7, 8}[i]), "sum": ""}
	case "g:inlined":
		n := i/2 + i%2
		return map[string]string{"n": fmt.Sprint(n), "m": fmt.Sprint(n * n), "why": text([]string{"once", "twice"}[i%2])}
	case "g:generic":
		v := fmt.Sprint(i / 2)
		if i%2 == 1 {
			v = text("word")
		}
		return map[string]string{"v": v, "n": fmt.Sprint(i / 2)}
	}
	return map[string]string{"r": "pointer", "found": ""} // g:method; "" is not known beforehand
}

// What waymark's events say of Go's variables is what the source says, or nothing.
func TestSimpleGoValues(t *testing.T) {
	peer.Root(t)
	passes := map[string]int{"g:registers": 3, "g:slices": 3, "g:structs": 3, "g:heap": 3, "g:loop": 4, "g:inlined": 6, "g:generic": 6, "g:method": 2}
	for _, version := range gobuild.Versions {
		for _, c := range []gobuild.Config{{Go: version}, {Go: version, PIE: true}, {Go: version, Flags: []string{"-gcflags=all=-N -l"}}} {
			t.Run(c.String(), func(t *testing.T) {
				path := gobuild.Build(t, c, "testdata/simplegovalues")
				if _, err := link.File(path, "", link.Options{}); err != nil {
					t.Fatal(err)
				}
				hits := (&oracle{}).trace(t, program{path, path})
				have, all := 0, 0
				for marker, n := range passes {
					if len(hits[marker]) != n {
						t.Errorf("%s: %d events, want %d", marker, len(hits[marker]), n)
						continue
					}
					for i, h := range hits[marker] {
						truth := goTruth(marker, i)
						for name, value := range h.values {
							want, known := truth[name]
							if all++; value != "-" {
								have++
							}
							if value != "-" && value != want && !(known && want == "") {
								t.Errorf("%s, pass %d: %s is %q, want %q", marker, i, name, value, want)
							}
						}
					}
				}
				t.Logf("%d of %d values", have, all)
				if 3*have < 2*all || c.Flags != nil && have != all {
					t.Errorf("%d of %d values, want two thirds, and all without optimization", have, all)
				}
			})
		}
	}
}
