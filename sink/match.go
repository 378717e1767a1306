package sink

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/marker"
)

// ErrNoMatch is the error of a glob that no sound marker of the program matches.
var ErrNoMatch = errors.New("no marker matches")

// Match returns the names of the markers that any of the patterns matches, as declared, sorted, each
// once, and the names among the patterns that no marker has. The package comment defines patterns.
// The error of a malformed one wraps [path.ErrBadPattern].
//
// It reads the data of the program: a few milliseconds for the largest of programs.
func Match(patterns ...string) ([]string, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	all := marker.All()
	var names []string
	for _, pattern := range patterns {
		found, err := match(all, pattern)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", pattern, err)
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func match(all []marker.Info, pattern string) (names []string, err error) {
	glob := strings.ContainsAny(pattern, `*?[\`)
	var wrong error
	for _, m := range all {
		ok, err := matches(pattern, m.Name)
		switch {
		case err != nil:
			return nil, err
		case !ok:
		case glob && m.Err != nil:
			wrong = m.Err
		default:
			names = append(names, m.Name)
		}
	}
	switch {
	case len(names) > 0:
		return names, nil
	case !glob:
		return []string{pattern}, nil
	case wrong != nil:
		return nil, wrong
	}
	return nil, ErrNoMatch
}

// matches reports whether a pattern matches a name as declared.
func matches(pattern, full string) (bool, error) {
	provider, name, ok := strings.Cut(full, ":")
	if !ok {
		provider, name = "", full
	}
	providers, names, ok := strings.Cut(pattern, ":")
	if !ok {
		return path.Match(pattern, name)
	}
	if p, err := path.Match(providers, provider); !p || err != nil || provider == "" {
		return false, err
	}
	return path.Match(names, name)
}
