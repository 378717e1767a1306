package cli

import (
	"errors"
	"path"

	"github.com/waymark-trace/waymark/tracer"
)

// newLater returns what to do about markers that appear while a session goes on, nil for a file:
// that has its markers, and whoever maps it.
func (s *session) newLater(sel *selection) *tracer.Later {
	if len(s.target.PIDs) == 0 && s.command == nil {
		return nil
	}
	return &tracer.Later{
		Choose: func(m *tracer.Marker) bool {
			ok, err := tracer.Match(m, sel.patterns)
			return ok && err == nil
		},
		Report: func(markers []*tracer.Marker, err error) {
			switch {
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

// awaits turns the error that there is no such marker into a warning, where one may appear: in a
// process that is followed, and in the libraries of a command without any.
func (s *session) awaits(sel *selection, found []*tracer.Marker, err error) error {
	if errors.Is(err, path.ErrBadPattern) || s.later == nil {
		return err
	}
	if _, bad := tracer.Match(&tracer.Marker{}, sel.patterns); bad != nil {
		return bad
	}
	switch {
	case sel.target.Follow:
	case len(found) == 0 && s.command != nil && linkedLater(s.command.PID()):
	default:
		return err
	}
	text, hint := explain(err)
	s.env.warning("%s yet", text)
	if hint != "" && len(found) > 0 {
		s.env.hint("%s", hint)
	}
	return nil
}
