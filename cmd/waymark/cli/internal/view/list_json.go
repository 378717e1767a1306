package view

import (
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer"
)

// jsonMarker is an object of list --json: a marker, in a process when one was asked for.
type jsonMarker struct {
	PID      int             `json:"pid,omitempty"`
	OwnPID   int             `json:"own_pid,omitempty"`
	Comm     string          `json:"comm,omitempty"`
	Marker   string          `json:"marker"`
	Provider string          `json:"provider"`
	Name     string          `json:"name"`
	Format   string          `json:"format,omitempty"`
	Typed    bool            `json:"typed"`
	Counter  bool            `json:"counter"`
	Fields   []jsonFieldType `json:"fields"`
	Sites    []jsonSite      `json:"sites"`
	Code     []jsonCode      `json:"code,omitempty"`
	File     jsonFile        `json:"file"`
}

// jsonCode is a tracer.CodeSite.
type jsonCode struct {
	Address   uint64 `json:"address"`
	Function  string `json:"function,omitempty"`
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Call      bool   `json:"call,omitempty"`
	Optimized bool   `json:"optimized,omitempty"`
}

type jsonFieldType struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Kind        string `json:"kind"`
	Verb        string `json:"verb,omitempty"`
	Unavailable string `json:"unavailable,omitempty"`
}

type jsonSite struct {
	Address     uint64            `json:"address"`
	Offset      uint64            `json:"offset"`
	Counter     uint64            `json:"counter,omitempty"`
	Value       *uint16           `json:"counter_value,omitempty"`
	Args        string            `json:"args"`
	Function    string            `json:"function,omitempty"`
	Unavailable map[string]string `json:"unavailable,omitempty"`
}

type jsonFile struct {
	Path    string `json:"path"`
	BuildID string `json:"build_id,omitempty"`
	Go      string `json:"go,omitempty"`
}

// jsonProblem is an object of list --json: what is wrong with a file, or with looking at a process.
type jsonProblem struct {
	Problem string    `json:"problem"`
	PID     int       `json:"pid,omitempty"`
	Comm    string    `json:"comm,omitempty"`
	File    *jsonFile `json:"file,omitempty"`
}

// ListJSON prints an object for each marker and for each problem. pid is the process whose counters are read, 0 for none.
func ListJSON(out *term.Output, groups []Group, pid int) error {
	said := map[*tracer.File]bool{}
	for _, g := range groups {
		var p tracer.Process
		if len(g.Processes) > 0 {
			p = g.Processes[0] // with --json every process is a group
		}
		if p.Err != nil {
			if err := WriteJSON(out, &jsonProblem{Problem: p.Err.Error(), PID: p.PID, Comm: p.Comm}); err != nil {
				return err
			}
		}
		for _, m := range g.Markers {
			j := markerJSON(m)
			j.PID, j.OwnPID, j.Comm = p.PID, p.OwnPID, p.Comm
			j.counters(m, pid)
			if err := WriteJSON(out, j); err != nil {
				return err
			}
		}
		for _, f := range Files(g.Markers) {
			if said[f] {
				continue
			}
			said[f] = true
			file := fileJSON(f)
			for _, problem := range f.Problems {
				if err := WriteJSON(out, &jsonProblem{Problem: problem.Error(), File: &file}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// counters adds the values of counters in a process, as far as they can be read.
func (j *jsonMarker) counters(m *tracer.Marker, pid int) {
	if pid == 0 || !m.Counted {
		return
	}
	values, err := m.Counters(pid)
	if err != nil {
		return
	}
	for i := range j.Sites {
		if j.Sites[i].Counter != 0 {
			j.Sites[i].Value = &values[i]
		}
	}
}

func markerJSON(m *tracer.Marker) *jsonMarker {
	j := &jsonMarker{
		Marker: m.FullName(), Provider: m.Provider, Name: m.Name, Format: m.Format,
		Typed: m.Typed, Counter: m.Counted, File: fileJSON(m.File),
		Fields: []jsonFieldType{}, Sites: []jsonSite{}, Code: codeJSON(m),
	}
	for _, f := range m.Fields {
		t := jsonFieldType{Name: f.Name, Type: f.Type, Kind: f.Kind.String(), Verb: f.Verb}
		if f.Unavailable != "" {
			t.Unavailable = string(f.Unavailable)
		}
		j.Fields = append(j.Fields, t)
	}
	for _, s := range m.Sites {
		site := jsonSite{
			Address: uint64(s.Address), Offset: uint64(s.Offset), Counter: uint64(s.Semaphore), Args: s.Args,
			Function: functionOf(m.File, uint64(s.Address)),
		}
		for _, r := range siteReasons(m, &s) {
			set(&site.Unavailable, r.field.Name, r.err.Error())
		}
		j.Sites = append(j.Sites, site)
	}
	return j
}

func codeJSON(m *tracer.Marker) (code []jsonCode) {
	for _, s := range m.Code() {
		code = append(code, jsonCode(s))
	}
	return code
}

func fileJSON(f *tracer.File) jsonFile { return jsonFile{f.Path, f.BuildID, f.Go} }

// siteReason is why events of one site have no value of a field.
type siteReason struct {
	field *event.Field
	err   error
}

// siteReasons returns those of a site's operands that cannot be read. Another site can have them.
func siteReasons(m *tracer.Marker, s *sdt.Site) []siteReason {
	var all []siteReason
	if m.Typed { // a record is read
		return nil
	}
	for i, arg := range m.Args {
		if arg.Operand == 0 || arg.Operand > len(s.Operands) {
			continue
		}
		if err := s.Operands[arg.Operand-1].Err; err != nil {
			all = append(all, siteReason{&m.Fields[i], err})
		}
	}
	return all
}
