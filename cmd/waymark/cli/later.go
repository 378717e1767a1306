package cli

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/link"
)

// newLater returns what to do about markers that appear while a session goes on, nil for a file:
// that has its markers, and whoever maps it.
func (s *session) newLater(sel *selection) *tracer.Later {
	if len(s.target.PIDs) == 0 && s.command == nil {
		return nil
	}
	return &tracer.Later{
		Choose: func(m *tracer.Marker) bool { return matches(m, sel.patterns) && sel.hasFields(m) },
		Report: func(markers []*tracer.Marker, err error) {
			var site *tracer.SiteError
			switch {
			case errors.As(err, &site):
				_ = s.skips([]*tracer.SiteError{site}) // who prints finds out, too
			case err != nil:
				text, _ := explain(err)
				s.env.warning("%s", text)
			case s.command == nil: // a command's libraries are no news
				s.env.message("attached to %s more in %s", plural(len(markers), "marker"), list(paths(markers)))
			}
		},
		// A process that was there before is left alone, unless everything is wanted.
		Pause: sel.target.Follow || s.command != nil,
	}
}

func paths(markers []*tracer.Marker) []string {
	var all []string
	for _, f := range files(markers) {
		all = append(all, label(f.Path))
	}
	return all
}

// choose returns the markers that the selection names. That there is no such one is a warning
// where one may well appear: in a process that is followed, and in the libraries of a command that
// has none itself.
func (s *session) choose(sel *selection, all []*tracer.Marker) ([]*tracer.Marker, error) {
	chosen, err := sel.choose(all)
	if err == nil {
		return s.withFields(sel, chosen)
	}
	if err := s.awaits(sel, all, err); err != nil {
		return nil, err
	}
	return matching(all, sel.patterns), nil
}

// withFields returns the markers that have the fields of --where. One that a pattern names, without
// wildcards, must have them. Where none has, attaching says what is missing.
func (s *session) withFields(sel *selection, markers []*tracer.Marker) ([]*tracer.Marker, error) {
	var having, lacking []*tracer.Marker
	for _, m := range markers {
		switch {
		case len(missingFields(m, sel.where)) == 0:
			having = append(having, m)
		case sel.names(m):
			lacking = append(lacking, m)
		}
	}
	if len(having) == 0 || len(having) == len(markers) {
		return markers, nil
	}
	if len(lacking) > 0 {
		return nil, lacksFields(sel, lacking)
	}
	s.env.message("--where chooses %d of %d markers, which have its fields", len(having), len(markers))
	return having, nil
}

// lacksFields says which of the markers that were named lack which fields of --where.
func lacksFields(sel *selection, lacking []*tracer.Marker) error {
	var each []string
	for _, m := range lacking[:min(len(lacking), maxProblems)] {
		each = append(each, label(m.FullName())+" has no field "+list(labels(missingFields(m, sel.where))))
	}
	text := strings.Join(each, ", ")
	if more := len(lacking) - len(each); more > 0 {
		text += fmt.Sprintf(", and so have %d more", more)
	}
	return withHint(fmt.Errorf("--where: %s", text),
		"name only markers that have it; patterns with * choose those by themselves, and waymark list shows the fields")
}

func labels(names []string) []string {
	var all []string
	for _, name := range names {
		all = append(all, label(name))
	}
	return all
}

// hasFields reports whether a marker has what --where names, or was named without wildcards, so that it must.
func (s *selection) hasFields(m *tracer.Marker) bool {
	return len(missingFields(m, s.where)) == 0 || s.names(m)
}

// missingFields returns the names in a condition that a marker has no field for.
func missingFields(m *tracer.Marker, where string) []string {
	missing, _ := tracer.CheckWhere(where, m) // flags have checked it
	return missing
}

// names reports whether a pattern without wildcards matches a marker.
func (s *selection) names(m *tracer.Marker) bool {
	return slices.ContainsFunc(s.patterns, func(p string) bool {
		return !strings.ContainsAny(p, "*?[\\") && matches(m, []string{p})
	})
}

// matches reports whether one of the patterns, which are well formed, matches a marker.
func matches(m *tracer.Marker, patterns []string) bool {
	ok, err := tracer.Match(m, patterns)
	return ok && err == nil
}

func matching(all []*tracer.Marker, patterns []string) (chosen []*tracer.Marker) {
	for _, m := range all {
		if matches(m, patterns) {
			chosen = append(chosen, m)
		}
	}
	return chosen
}

// awaits returns an error that there is no such marker, or warns of it where one may appear.
func (s *session) awaits(sel *selection, found []*tracer.Marker, err error) error {
	if errors.Is(err, path.ErrBadPattern) || s.later == nil || s.target.Engine == tracer.EngineAgent {
		return err
	}
	if _, bad := tracer.Match(&tracer.Marker{}, sel.patterns); bad != nil {
		return bad
	}
	text, hint := explain(err)
	linked := s.command != nil && linkedLater(s.command.PID())
	switch {
	case len(found) == 0 && s.command != nil && link.Unlinked(executable(s.command.PID())):
		return withHint(fmt.Errorf("%s has markers that no tracer sees: it is not linked", s.named), "waymark link %s", s.named)
	case sel.target.Follow, len(found) == 0 && linked:
	case errors.As(err, new(*tracer.NoMatchError)) && (linked || s.command == nil):
		// Nearly always a slip; so it is not waited for without being asked.
		return withHint(errors.New(text), "%s; --follow waits for those of libraries that are loaded later", hint)
	default:
		return err
	}
	s.env.warning("%s; those that appear later will be seen", text)
	if hint != "" {
		s.env.hint("%s", hint)
	}
	return nil
}
