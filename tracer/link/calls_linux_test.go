package link

import (
	"debug/gosym"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
)

// A function that calls Mark is said to be long only if it is.
func TestWhyCalled(t *testing.T) {
	build := func(c gobuild.Config) (warnings []string) {
		t.Helper()
		r, err := File(gobuild.Build(t, c, "testdata/middleware"), "", Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range r.Markers {
			if len(m.Sites) == 0 || !m.Typed {
				t.Errorf("%s has %d sites, typed: %t", m.Name, len(m.Sites), m.Typed)
			}
		}
		return r.Warnings
	}
	for _, c := range []gobuild.Config{{}, {PIE: true, Strip: true}, {Go: gobuild.Versions[0]}} {
		t.Run(c.String(), func(t *testing.T) {
			warnings := build(c)
			text := strings.Join(warnings, "\n")
			for _, want := range []string{
				"main.main.mw.func2 calls Mark once instead of testing first, because it is a copy of a closure of mw, made when that was inlined into main.main",
				"//go:noinline before mw avoids it",
			} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q", want)
				}
			}
			if strings.Contains(text, "too long") || strings.Contains(text, "outOfLine") {
				t.Errorf("warnings %q", warnings)
			}
		})
	}
}

func TestCopiedClosure(t *testing.T) {
	functions := make(map[string]*gosym.Func)
	for _, name := range []string{
		"main.main", "main.T.Value", "main.(*T).Pointer", "main.outer", "main.init", "main.init.0", "example.org/a.b/c.Run", "main.generic[...]", "main.main.func1", "main.main.outer.func3",
	} {
		functions[name], functions[withoutTypes(name)] = new(gosym.Func), new(gosym.Func)
	}
	for name, want := range map[string]string{
		"main.main":                              "",
		"main.main.func1":                        "",
		"main.main.func1.2":                      "",
		"main.main.gowrap1":                      "",
		"main.T.Value.func1":                     "",
		"main.(*T).Pointer.func1":                "",
		"main.T.Gone.func1":                      "",
		"main.glob..func1":                       "",
		"main.init.func1":                        "",
		"main.init.0.func1":                      "",
		"main.generic[go.shape.int].func1":       "",
		"main.outer-range1":                      "",
		"main.main.outer.func3":                  "outer in main.main",
		"main.main.outer.func3.1":                "outer in main.main",
		"main.main.(*T).Pointer.func1":           "(*T).Pointer in main.main",
		"main.main.set[...].each.func1":          "set.each in main.main",
		"main.(*T).Pointer.outer.func2":          "outer in main.(*T).Pointer",
		"main.main.func1.outer.func2":            "outer in main.main.func1",
		"example.org/a.b/c.Run.mw.func1":         "mw in example.org/a.b/c.Run",
		"example.org/a.b/c.Run.func1":            "",
		"main.generic[...].outer.func1":          "outer in main.generic",
		"main.main.outer-range1":                 "outer in main.main",
		"main.main.one.two.func1":                "one.two in main.main",
		"main.generic[example.org/x.T[a]].func1": "",
	} {
		inner, outer := copiedClosure(name, functions)
		got := inner + " in " + outer
		if inner == "" {
			got = ""
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
