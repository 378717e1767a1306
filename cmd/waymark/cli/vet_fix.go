package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/format"
	"os"
	"slices"
)

// edit replaces bytes of a file.
type edit struct {
	path     string
	size     int // of the file that was analyzed
	from, to int
	text     []byte
}

// fix changes the files as the findings suggest and returns those that suggest nothing, or
// whose change gets in the way of another one.
func (e *Env) fix(found []*finding) (left []*finding, err error) {
	byFile := make(map[string][]edit)
	for _, f := range found {
		if len(f.edits) == 0 || slices.ContainsFunc(f.edits, func(x edit) bool { return x.touches(byFile[x.path]) }) {
			left = append(left, f)
			continue
		}
		for _, x := range f.edits {
			byFile[x.path] = append(byFile[x.path], x)
		}
	}
	for path, edits := range byFile {
		if err := rewrite(path, edits); err != nil {
			return nil, fmt.Errorf("fixing %s: %w", relative(path), err)
		}
	}
	if n := len(found) - len(left); n > 0 {
		e.message("fixed %s in %s", plural(n, "finding"), plural(len(byFile), "file"))
	}
	return left, nil
}

// touches reports whether the outcome depends on which of the edits is made first.
func (x edit) touches(others []edit) bool {
	return slices.ContainsFunc(others, func(o edit) bool { return o.from <= x.to && x.from <= o.to })
}

func rewrite(path string, edits []edit) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if len(source) != edits[0].size {
		return errors.New("it changed meanwhile: run the same again")
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var out bytes.Buffer
	at := 0
	for _, x := range edits {
		out.Write(source[at:x.from])
		out.Write(x.text)
		at = x.to
	}
	out.Write(source[at:])
	text, err := format.Source(out.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, info.Mode().Perm())
}
