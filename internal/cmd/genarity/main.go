// Command genarity writes the marker and the tracepoint types of every arity. Go has no variadic type
// parameters, and boxed variadic arguments would be built before the armed word is tested.
//
//	go run ./internal/cmd/genarity -o marker/zarity_unsafe.go marker
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"log"
	"os"
	"strings"
	"text/template"

	"github.com/waymark-trace/waymark/internal/markerabi"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("genarity: ")
	out := flag.String("o", "zarity.go", "file to write")
	flag.Parse()
	text, ok := templates[flag.Arg(0)]
	if !ok {
		log.Fatalf("want marker or tracepoint, not %q", flag.Args())
	}
	if err := run(text, *out); err != nil {
		log.Fatal(err)
	}
}

// arity holds the pieces of text that differ between arities.
type arity struct {
	N     int
	value bool // pass is a variable, not a pointer to one
}

func (a arity) list(format string) string {
	parts := make([]string, a.N)
	for i := range parts {
		parts[i] = strings.NewReplacer("T", string(rune('A'+i)), "v", string(rune('a'+i))).Replace(format)
	}
	return strings.Join(parts, ", ")
}

func (a arity) brackets(s string) string {
	if a.N == 0 {
		return ""
	}
	return "[" + s + "]"
}

// TypeParams returns "[A, B Basic]", AnyParams "[A, B any]", TypeArgs "[A, B]", Types "A, B", Params "a A, b B", Args "a, b".
func (a arity) TypeParams() string { return a.brackets(a.list("T") + " Basic") }
func (a arity) AnyParams() string  { return a.brackets(a.list("T") + " any") }
func (a arity) TypeArgs() string   { return a.brackets(a.list("T")) }
func (a arity) Types() string      { return a.list("T") }
func (a arity) Params() string     { return a.list("v T") }
func (a arity) Args() string       { return a.list("v") }

// Members returns the arguments as members of the record.
func (a arity) Members() string { return a.list("pass.record.v") }

// Value is for text in which pass is a variable, and Reference what makes a pointer of it.
func (a arity) Value() arity { return arity{a.N, true} }
func (a arity) Reference() string {
	if a.value {
		return "&"
	}
	return ""
}

// MayBeText returns whether an argument has the size of a Text, which the compiler knows.
func (a arity) MayBeText() string {
	return strings.ReplaceAll(a.list("unsafe.Sizeof(v) == textSize"), ",", " ||")
}

// Fields returns the members of the record's struct.
func (a arity) Fields() string { return strings.ReplaceAll(a.list("v T"), ",", ";") }

// Comma returns ", " before anything that follows other arguments.
func (a arity) Comma() string {
	if a.N == 0 {
		return ""
	}
	return ", "
}

// Plural spells the number of arguments.
func (a arity) Plural() string {
	return [...]string{"no arguments", "one argument", "two arguments", "three arguments", "four arguments",
		"five arguments", "six arguments", "seven arguments", "eight arguments"}[a.N]
}

func run(text, out string) error {
	var arities []arity
	for n := range markerabi.MaxArity + 1 {
		arities = append(arities, arity{N: n})
	}
	var b bytes.Buffer
	if err := template.Must(template.New("").Parse(text)).Execute(&b, arities); err != nil {
		return err
	}
	source, err := format.Source(b.Bytes())
	if err != nil {
		return fmt.Errorf("formatting %s: %w", out, err)
	}
	return os.WriteFile(out, source, 0o666)
}
