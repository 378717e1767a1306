package script_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/tracer/script"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// golden is one case of a file in testdata: a line "=== name [option…]", the script, a line "---", and the output.
type golden struct {
	head, script, want string
}

func readGolden(t *testing.T, path string) []golden {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []golden
	for _, part := range strings.Split("\n"+string(text), "\n=== ")[1:] {
		head, rest, _ := strings.Cut(part, "\n")
		body, want, _ := strings.Cut(rest+"\n", "---\n")
		all = append(all, golden{head, body, strings.TrimSuffix(want, "\n")})
	}
	return all
}

// TestGolden runs the scripts of testdata on the trace of writeTrace. The options of a case are JSON, n=N, d=DURATION, and the
// script's arguments.
func TestGolden(t *testing.T) {
	t.Setenv("TZ", "UTC")
	time.Local = time.UTC
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		cases := readGolden(t, path)
		var b strings.Builder
		for i := range cases {
			c := &cases[i]
			words := strings.Fields(c.head)
			got := ""
			t.Run(strings.TrimSuffix(filepath.Base(path), ".txt")+"/"+words[0], func(t *testing.T) {
				o, args := script.Options{}, []string(nil)
				for _, w := range words[1:] {
					name, value, _ := strings.Cut(w, "=")
					switch {
					case w == "JSON":
						o.JSON = true
					case name == "n":
						fmt.Sscan(value, &o.Events)
					case name == "d":
						o.Duration, _ = time.ParseDuration(value)
					default:
						args = append(args, w)
					}
				}
				got = runOn(t, openTrace(t), c.script, args, o)
				if got != c.want && !*update {
					t.Errorf("%s\ngives\n%s\nwant\n%s", c.script, got, c.want)
				}
			})
			b.WriteString("=== " + c.head + "\n" + c.script + "---\n" + got + "\n")
		}
		if *update {
			if err := os.WriteFile(path, []byte(strings.TrimSuffix(b.String(), "\n")), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
