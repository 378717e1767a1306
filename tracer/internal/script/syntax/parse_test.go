package syntax

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestPositions names the construct where it is, also after characters of several bytes and tabs.
func TestPositions(t *testing.T) {
	_, err := Parse("s.bt", "BEGIN {\n\tprint(\"äö\"); $x = 'c';\n}")
	var e *Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	line, carets := e.Snippet()
	if e.Error() != "s.bt:2:20: character literal" || line != ` print("äö"); $x = 'c';` || carets != strings.Repeat(" ", 19)+"^" {
		t.Errorf("%v\n%s\n%s", e, line, carets)
	}
}

// TestSnippetOfLongLine shows the part of a long line that has the mistake.
func TestSnippetOfLongLine(t *testing.T) {
	_, err := Parse("s", "BEGIN { "+strings.Repeat("$a = 1; ", 1000)+"'"+strings.Repeat(" $a = 1;", 1000)+"}")
	var e *Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	line, carets := e.Snippet()
	if len(line) > maxShown || line[len(carets)-1] != '\'' {
		t.Errorf("%q\n%q", line, carets)
	}
}

func TestParseInt(t *testing.T) {
	for literal, want := range map[string]uint64{
		"0": 0, "7": 7, "010": 8, "0x1F": 31, "1e6": 1000000, "1_000": 1000, "3ms": 3000000, "2d": 172800e9, "5UL": 5, "7ull": 7,
		"18446744073709551615": 1<<64 - 1, "0xffffffffffffffff": 1<<64 - 1, "1E3": 1000,
	} {
		if v, wrong := ParseInt(literal); v != want || wrong != "" {
			t.Errorf("%s: %d %s, want %d", literal, v, wrong, want)
		}
	}
	for _, literal := range []string{"", "x", "09", "1x", "1e", "1e999", "18446744073709551616", "1e20", "0x", "99999999999d", "1.5"} {
		if v, wrong := ParseInt(literal); wrong == "" {
			t.Errorf("%s: %d, want an error", literal, v)
		}
	}
}

// TestProbes parses what may stand in a probe and nowhere else.
func TestProbes(t *testing.T) {
	s, err := Parse("s", `usdt:/usr/lib/x-1.so:prov:name-2 , marker:a/b:*
		/ arg0 / 2 == 4 / { } marker:"a b{":c,t:x:y{} END/1/{}`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range s.Blocks {
		for _, p := range b.Probes {
			got = append(got, p.Provider+"|"+strings.Join(p.Parts, "|"))
		}
	}
	want := "usdt|/usr/lib/x-1.so|prov|name-2 marker|a/b|* marker|a b{|c t|x|y END|"
	if strings.Join(got, " ") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, " "), want)
	}
	if s.Blocks[0].Predicate == nil || s.Blocks[2].Predicate == nil {
		t.Error("a predicate is missing")
	}
}

// hostile are scripts that end in an error, or are parsed, in bounded time.
var hostile = map[string]string{
	"parentheses":   "BEGIN { $x = " + strings.Repeat("(", 1<<18) + " }",
	"unary":         "BEGIN { $x = " + strings.Repeat("!", 1<<18) + "1 }",
	"blocks":        "BEGIN " + strings.Repeat("{", 1<<18),
	"else":          "BEGIN { " + strings.Repeat("if (1) {} else ", 1<<15) + "{} }",
	"chain":         "BEGIN { $x = 1" + strings.Repeat("+1", 1<<18) + "; }",
	"elements":      "BEGIN { $x = 1; $y = $x" + strings.Repeat(".0", 1<<18) + "; }",
	"ternary":       "BEGIN { $x = " + strings.Repeat("1?1:", 1<<17) + "1 }",
	"tuple":         "BEGIN { $x = (" + strings.Repeat("1,", 1<<18) + "1) }",
	"probes":        strings.Repeat("marker:x,", 1<<16) + "marker:y {}",
	"action blocks": strings.Repeat("END{}", 1<<17),
	"constant":      "BEGIN { $x = " + strings.Repeat("9", 1<<19) + "; }",
	"text":          `BEGIN { $x = "` + strings.Repeat(`\x41`, 1<<17) + `"; }`,
	"long":          strings.Repeat(" ", MaxText+1),
	"comment":       "/*" + strings.Repeat("/*", 1<<17),
	"casts":         "BEGIN { $x = " + strings.Repeat("(int8)", 1<<16) + "1; }",
	"spec":          "marker:" + strings.Repeat(":", 1<<19),
	"unroll":        "BEGIN { " + strings.Repeat("unroll(1000) { ", 50) + "print(1);" + strings.Repeat("}", 50) + " }",
}

func TestHostile(t *testing.T) {
	for name, text := range hostile {
		begun := time.Now()
		_, err := Parse("s", text)
		t.Logf("%s: %v in %v", name, err != nil, time.Since(begun))
		if err == nil && name != "constant" && name != "text" && name != "unroll" {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzLex(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		l := lexer{file: NewFile("s", text)}
		defer func() {
			if e := recover(); e != nil {
				e.(*Error).Snippet()
			}
		}()
		for at := -1; ; {
			token := l.next()
			if token.Kind == EOF {
				return
			}
			if token.Begin <= at || token.End <= token.Begin || token.End > len(text) {
				t.Fatalf("token %+v after one at %d", token, at)
			}
			at = token.Begin
		}
	})
}

func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("s", text)
		if err != nil {
			err.(*Error).Snippet()
		} else if len(s.Blocks) == 0 {
			t.Error("a script without probes")
		}
	})
}

func seeds(f *testing.F) {
	for _, s := range []string{
		"BEGIN { print(1); }", "marker:a:b /arg0 > 1/ { @[args.x, comm] = count(); }", "config = { max_strlen = 5; } let @a = hash(3); END { for ($i : 0..5) { } }",
		`usdt:/a/b:c:d, interval:s:1 { printf("%d\n", (int8)$1 ? 1 : 2); @x++; $y = (1, "a").0; }`, "#!/x\nBEGIN/1/{while(1){break}}", "BEGIN { $x = -1 << 3ms; }",
	} {
		f.Add(s)
	}
}
