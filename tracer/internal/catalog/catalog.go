// Package catalog knows the arguments of well-known markers by name and type: SDT notes say
// only how wide a number is. The table is catalog.txt.
package catalog

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// Arg is one argument of a marker, made of one operand or of two.
type Arg struct {
	Name string
	Type Type
}

// Type says what an argument is.
type Type uint8

// The types. Of Sized text the operand after the pointer is the length.
const (
	Number Type = iota
	Int         // signed, whatever the operand says
	Bool
	Pointer
	Text
	Sized
)

var types = map[string]Type{"": Number, "int": Int, "bool": Bool, "pointer": Pointer, "text": Text, "sized": Sized}

// Operands is how many operands an argument takes.
func (t Type) Operands() int {
	if t == Sized {
		return 2
	}
	return 1
}

// Operands is how many operands a note of a marker with such arguments has.
func Operands(args []Arg) int {
	n := 0
	for _, a := range args {
		n += a.Type.Operands()
	}
	return n
}

// Lookup returns the arguments of a marker, once for each version of it that differs in them; nil
// when it is not known.
func Lookup(provider, name string) [][]Arg { return table()[provider+":"+name] }

//go:embed catalog.txt
var text string

var table = sync.OnceValue(func() map[string][][]Arg {
	t, err := parse(text)
	if err != nil {
		panic(err) // of our own table, which a test reads
	}
	return t
})

func parse(text string) (map[string][][]Arg, error) {
	t := map[string][][]Arg{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if len(words) < 3 {
			return nil, fmt.Errorf("catalog.txt:%d: a provider, a name and arguments", n)
		}
		var args []Arg
		for _, word := range words[2:] {
			name, of, _ := strings.Cut(word, ":")
			typ, ok := types[of]
			if !ok {
				return nil, fmt.Errorf("catalog.txt:%d: %s is of no type", n, word)
			}
			args = append(args, Arg{name, typ})
		}
		key := words[0] + ":" + words[1]
		t[key] = append(t[key], args)
	}
	return t, nil
}
