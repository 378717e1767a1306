package session

import (
	"errors"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer"
)

// lateFaults are what is wrong with a selection as far as markers show that are loaded later: for markers that are
// there at first each of these is an error before anything is attached. They are those of one goroutine until the
// session is detached.
type lateFaults struct {
	lacking map[string]bool // named markers without a field of --where, which were reported
	unfit   *tracer.Marker  // one that patterns match and --where does not choose
	chosen  bool            // there is one that both choose
}

// newLater returns what to do about markers that appear while a session goes on, nil for a file:
// that has its markers, and whoever maps it.
func (s *Session) newLater(sel *Selection) *tracer.Later {
	if len(s.Subject.PIDs) == 0 && s.Command == nil {
		return nil
	}
	return &tracer.Later{
		Choose: func(m *tracer.Marker) bool { return s.chooseLater(sel, m) },
		Report: func(markers []*tracer.Marker, err error) { s.reportLater(sel, markers, err) },
		// A process that was there before is left alone, unless everything is wanted.
		Pause: sel.Subject.Follow || s.Command != nil,
	}
}

// chooseLater reports whether a marker is selected. One that is named without wildcards must have the fields of --where,
// so it is, and attaching says what it lacks.
func (s *Session) chooseLater(sel *Selection, m *tracer.Marker) bool {
	if !Matches(m, sel.Patterns) {
		return false
	}
	if len(missingFields(m, sel.Where)) > 0 && !sel.names(m) {
		s.late.unfit = m
		return false
	}
	s.late.chosen = true
	return true
}

// reportLater says what was attached, or what is wrong.
func (s *Session) reportLater(sel *Selection, markers []*tracer.Marker, err error) {
	var site *tracer.SiteError
	var where *tracer.WhereError
	switch {
	case errors.As(err, &site) && errors.As(err, &where):
		if full := site.Marker.FullName(); !s.late.lacking[full] {
			s.late.lacking[full], err = true, where
			if len(missingFields(site.Marker, sel.Where)) > 0 {
				err = lacksFields(sel, []*tracer.Marker{site.Marker})
			}
			explain.Print(s.Env, err)
		}
	case errors.As(err, &site):
		_ = view.WarnSkipped(s.Env, s.json, []*tracer.SiteError{site}) // who prints finds out, too
	case err != nil:
		text, _ := explain.Error(err)
		s.Env.Warning("%s", text)
	case s.Command == nil: // a command's libraries are no news
		var paths []string
		for _, f := range view.Files(markers) {
			paths = append(paths, term.Label(f.Path))
		}
		s.Env.Message("attached to %s more in %s", term.Plural(len(markers), "marker"), term.List(paths))
	}
}

// lateStatus returns status, or a failure where what was asked for turned out to make no sense only when libraries
// were loaded.
func (s *Session) lateStatus(sel *Selection, attached Attached, status error) error {
	err := attached.Missing()
	if m := s.late.unfit; err == nil && m != nil && !s.late.chosen && len(s.Markers) == 0 {
		err = lacksFields(sel, []*tracer.Marker{m})
	}
	if err != nil {
		explain.Print(s.Env, err)
	}
	if status == nil && (err != nil || len(s.late.lacking) > 0) {
		return term.StatusFailure(term.StatusError)
	}
	return status
}
