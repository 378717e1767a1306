package cli

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/waymark-trace/waymark/internal/enclosing"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/simplesection"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer"
)

// simpleMarker is a row of list --simple.
type simpleMarker struct {
	simplesection.Record
	module   string // what the file is called
	function string // "" when it is not known
	path     string
}

// findSimple returns the simple markers of the files that a command line names, in the order
// of the files' sections. What is wrong with one of several files costs that file's.
func findSimple(env *Env, sel *selection) ([]simpleMarker, error) {
	if sel.target.Path != "" {
		return simpleOf(env, sel, sel.target.Path, filepath.Base(sel.target.Path))
	}
	var all []simpleMarker
	seen := map[procfs.File]bool{}
	for _, pid := range sel.target.PIDs {
		maps, err := procfs.Maps(pid)
		if procfs.Gone(err) {
			return nil, fmt.Errorf("process %d: %w", pid, tracer.ErrNoProcess)
		}
		if err != nil {
			return nil, fmt.Errorf("reading what process %d maps: %w", pid, err)
		}
		for _, m := range maps {
			if !m.Executable || m.Inode == 0 || m.Deleted || seen[m.File()] {
				continue
			}
			seen[m.File()] = true
			// As the process sees it: it may live in a mount namespace of its own.
			file := fmt.Sprintf("/proc/%d/root%s", pid, m.Path)
			found, err := simpleOf(env, sel, file, filepath.Base(m.Path))
			if err != nil && !errors.Is(err, sdt.ErrNotELF) {
				env.warning("%s: %s", printable(m.Path), printable(err.Error()))
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

// simpleOf returns the simple markers of a file that the patterns select.
func simpleOf(env *Env, sel *selection, file, module string) ([]simpleMarker, error) {
	records, problems, err := simplesection.Read(file)
	if err != nil || len(records) == 0 && len(problems) == 0 {
		return nil, err
	}
	for _, p := range problems {
		env.warning("%s", printable(p.Error()))
	}
	var sources []string
	for _, r := range records {
		sources = append(sources, r.File)
	}
	functions, err := enclosing.Read(file, sources)
	if err != nil {
		env.warning("%s", printable(err.Error())) // there is a table without functions
	}
	var markers []simpleMarker
	for _, r := range records {
		if !sel.matchSimple(r.Name) {
			continue
		}
		m := simpleMarker{Record: r, module: module, path: file}
		if functions != nil {
			m.function = functions.Of(r.File, r.Line)
		}
		markers = append(markers, m)
	}
	return markers, nil
}

// matchSimple reports whether the patterns select a name: one without a colon matches the
// last component, as it matches the name of other markers.
func (s *selection) matchSimple(name string) bool {
	for _, pattern := range s.patterns {
		whole := name
		if !strings.Contains(pattern, ":") {
			whole = name[strings.LastIndexByte(name, ':')+1:]
		}
		if ok, _ := path.Match(pattern, whole); ok {
			return true
		}
	}
	return len(s.patterns) == 0
}

var errNoSimple = errors.New("no simple markers")

// listSimple prints the table, or JSON.
func listSimple(out *output, markers []simpleMarker, json bool) error {
	if json {
		for _, m := range markers {
			if err := writeJSON(out, m.json()); err != nil {
				return err
			}
		}
		return nil
	}
	t := table{right: make([]bool, 4)}
	t.add("MODULE", "FUNCTION", "NAME", "DESCRIPTION")
	for _, m := range markers {
		function := "?"
		if m.function != "" {
			function = label(m.function)
		}
		t.add(label(m.module), function, label(m.Name), printable(m.Text()))
	}
	style := styleFor(out.to)
	for i, line := range t.lines() {
		if i == 0 {
			line = style.dim(line)
		}
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

// jsonSimple is an object of list --json: a simple marker.
type jsonSimple struct {
	Simple      string   `json:"simple"`
	Module      string   `json:"module"`
	Function    string   `json:"function,omitempty"`
	File        string   `json:"file"`
	Line        int      `json:"line"`
	Format      string   `json:"format"`
	Description string   `json:"description"`
	Variables   []string `json:"variables"`
	Path        string   `json:"path"`
}

func (m *simpleMarker) json() *jsonSimple {
	return &jsonSimple{
		m.Name, m.module, m.function, m.File, m.Line, m.Description, m.Text(),
		append([]string{}, simplesection.Split(m.Variables)...), m.path,
	}
}
