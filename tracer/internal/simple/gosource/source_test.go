package gosource

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const head = "package p\n\nimport \"github.com/waymark-trace/waymark/simple\"\n\n"

// What follows a marker stands for it only where nothing else leads there.
func TestFollow(t *testing.T) {
	for _, tt := range []struct{ body, want string }{
		{"simple.Mark0(\"m\", \"\")\nf()", "line 7, 1 calls"},
		{"simple.Mark0(\"m\", \"\")\nx.y = 1", "line 7, stores"},
		{"simple.Mark0(\"m\", \"\")\nreturn", "line 7, returns"},
		{"f()\nsimple.Mark0(\"m\", \"\")", "end, line 8, after calls on [6]"},
		{"f()\nif a && b() {\nsimple.Mark0(\"m\", \"\")\ng()\n}", "line 9, 1 calls, after calls on [6]"},
		{"simple.Mark0(\"m\", \"\")\nif a && b() {\n}", "line 7, 1 calls, conditional"},
		{"simple.Mark0(\"m\", \"\")\nk := n * 2\nf(k)", "line 7, then line 8, 1 calls"},
		{"simple.Mark1(\"m\", \"%d\", k)\nk = n * 2\nf(k)", "line 7, stores"},
		{"simple.Mark0(\"m\", \"\")\nsimple.Mark0(\"n\", \"\")\nf()", "line 8, 1 calls"},
		{"simple.Mark0(\"m\", \"\")\n{\nf()\n}", "line 8, 1 calls"},
		{"{\nsimple.Mark0(\"m\", \"\")\n}\nf()", "line 9, 1 calls"},
		{"l:\nsimple.Mark0(\"m\", \"\")\nf()\ngoto l", "line 8, 1 calls"},
		{"simple.Mark0(\"m\", \"\")\nl:\nf()\ngoto l", "by which it is also reached around it"},
		{"simple.Mark0(\"m\", \"\")\nf(); g()", "shares a line with another"},
		{"simple.Mark0(\"m\", \"\")\nf(func() { g() })", "shares a line with another"},
		{"simple.Mark0(\"m\", \"\")\nf(func() {\ng()\n})", "line 7, 1 calls"},
		{"if a {\nsimple.Mark0(\"m\", \"\")\n}\nf()", "also reached around it"},
		{"for {\nsimple.Mark0(\"m\", \"\")\n}", "also reached around it"},
		{"for {\nsimple.Mark0(\"m\", \"\")\ncontinue\n}", "a continue follows"},
		{"simple.Mark0(\"m\", \"\")\nfor range 3 {\n}", "a loop follows"},
		{"defer f()\nsimple.Mark0(\"m\", \"\")", "a function that defers"},
		{"defer simple.Mark0(\"m\", \"\")", "no statement of its own"},
		{"for i := 0; ; simple.Mark0(\"m\", \"\") {\n}", "no statement of its own"},
		{"switch n {\ncase 1:\nsimple.Mark0(\"m\", \"\")\ncase 2:\nf()\n}", "also reached around it"},
	} {
		file, err := Parse("", []byte(head+"func p(n int) {\n"+tt.body+"\n}\n"))
		if err != nil {
			t.Errorf("%q: %v", tt.body, err)
			continue
		}
		if got := text(&file.Markers[0].Follow); got != tt.want && (strings.HasPrefix(tt.want, "line") || !strings.Contains(got, tt.want)) {
			t.Errorf("%q: %s, want %s", tt.body, got, tt.want)
		}
	}
}

func text(f *Follow) string {
	if f.Reason != "" {
		return f.Reason
	}
	var b strings.Builder
	if f.Rule == End {
		b.WriteString("end, ")
	}
	b.WriteString("line " + itoa(f.First))
	if f.Then != nil {
		return b.String() + ", then " + text(f.Then)
	}
	if f.Calls > 0 {
		b.WriteString(", " + itoa(f.Calls) + " calls")
	}
	for _, p := range []struct {
		on   bool
		text string
	}{{f.Conditional, "conditional"}, {f.Stores && f.Calls == 0, "stores"}, {f.Returns, "returns"}} {
		if p.on {
			b.WriteString(", " + p.text)
		}
	}
	if f.Before != nil {
		b.WriteString(", after calls on " + strings.Join(strings.Fields(strings.ReplaceAll(itoas(f.Before), ",", " ")), " "))
	}
	return b.String()
}

// Markers are read as they are written, and what cannot be recorded says why.
func TestParse(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go": "package p\n\nconst shared = \"p:\" + \"shared\"\n", "b_linux.go": "package p\n\nconst twice = \"p:linux\"\n", "b_windows.go": "package p\n\nconst twice = \"p:windows\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ imports, marker, want string }{
		{"\"P\"", "simple.Mark2(\"a:b\", \"%d %s\", x.y , z)", `a:b "%d %s" x.y z`},
		{"m \"P\"", "m.Mark1(`a`, \"%v\", (x))", `a "%v" (x)`},
		{". \"P\"", "Anchor1[int](\"a\", \"%v\", f(a,\n b))", `anchored a "%v" f(a, b)`},
		{"\"P\"", "simple.Mark0(\"a:\"+\"b\", \"\")", `a:b ""`},
		{"\"P\"", "const c = \"c\"\nsimple.Mark0(c, c+\"x\")", `c "cx"`},
		{"\"P\"", "simple.Mark0(shared, \"\")", `p:shared ""`},
		{"\"P\"", "simple.Mark0(twice, \"\")", "its name is no constant"},
		{"\"P\"", "simple.Mark0(v, \"\")", "its name is no constant"},
		{"\"P\"", "simple.Mark0(\"a\", 3)", "its format is no constant"},
		{"\"P\"", "simple.Mark1(\"a\", \"\", x)", "has 0 verbs for 1 arguments"},
		{"\"P\"", "simple.Mark0(\"a-b\", \"\")", `has "-"`},
		{"\"P\"", "simple.Mark1(\"a\", \"%d\")", "it has 2 arguments, not name, format and 1 more"},
		{"\"P\"", "other.Mark0(\"a\", \"\")", "none"},
		{"_ \"P\"", "simple.Mark0(\"a\", \"\")", "none"},
		{"\"P/not\"", "simple.Mark0(\"a\", \"\")", "none"},
	} {
		source := "package p\n\nimport " + strings.Replace(tt.imports, "P", Path, 1) + "\n\nfunc p(x, z int) {\n" + tt.marker + "\n}\n"
		file, err := Parse(filepath.Join(dir, "self.go"), []byte(source))
		if err != nil {
			t.Errorf("%s: %v", tt.marker, err)
			continue
		}
		got := "none"
		if len(file.Markers) > 0 {
			m := file.Markers[0]
			got = m.Name + " \"" + m.Description + "\" " + strings.Join(m.Variables, " ")
			if got = strings.TrimSpace(got); m.Anchored {
				got = "anchored " + got
			}
			if m.Problem != "" {
				got = m.Problem
			}
		}
		if got != tt.want && !(strings.HasPrefix(tt.want, "i") || strings.HasPrefix(tt.want, "has")) || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.marker, got, tt.want)
		}
	}
}

// Symbols are what the compiler calls functions.
func TestSymbols(t *testing.T) {
	file, err := Parse("", []byte("package p\nfunc f() { defer f() }\nfunc (b *box[T]) put() {}\nfunc (pair) get() { _ = func() {} }\n//go:noinline\nfunc g() {}\nvar v = func() {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []*Function{
		{Name: "f", Line: 2, Body: 2, Kept: true}, {Name: "(*box).put", Line: 3, Body: 3}, {Name: "pair.get", Line: 4, Body: 4},
		{Name: "pair.get", Literal: true, Line: 4, Body: 4}, {Name: "g", Line: 6, Body: 6, Kept: true}, {Name: "", Literal: true, Line: 7, Body: 7},
	}
	if d := cmp.Diff(want, file.Functions); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestReadTextRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadText(dir); err == nil {
		t.Error("read a directory")
	}
	huge := filepath.Join(dir, "huge.go")
	if err := os.WriteFile(huge, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, MaxSize+1); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadText(huge); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("of a huge file: %v", err)
	}
	if _, err := ReadText(filepath.Join(dir, "missing.go")); err == nil {
		t.Error("read a file that is not there")
	}
	link := filepath.Join(dir, "link.go")
	if err := os.Symlink("link.go", link); err == nil {
		if _, err := ReadText(link); err == nil {
			t.Error("read a link to itself")
		}
	}
}

// FuzzParse reads sources of which any byte may be wrong.
func FuzzParse(f *testing.F) {
	f.Add([]byte(head + "func p(n int) {\nl:\nsimple.Mark1(\"m\", \"%d\", n)\nif f(); n > 3 {\ngoto l\n}\n}\n"))
	f.Add([]byte("package p\nimport . \"" + Path + "\"\nvar v = func() { Anchor0(c, c+\"x\") }\nconst c = \"c\"\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Parse("", text)
		if err != nil {
			return
		}
		for _, m := range file.Markers {
			if m.Last < m.Line && !file.Renumbered() {
				t.Errorf("marker %q on lines %d to %d", m.Name, m.Line, m.Last)
			}
		}
	})
}

func itoa(n int) string    { return strconv.Itoa(n) }
func itoas(n []int) string { return fmt.Sprint(n) }
