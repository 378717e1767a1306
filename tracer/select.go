package tracer

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// maxAvailable is how many names a NoMatchError carries.
const maxAvailable = 10

// Select returns the markers that any of the patterns matches, in their order in markers,
// each once. A pattern is a glob over provider:name, with *, ? and [...] as in path.Match;
// one without a colon matches the name in any provider, of simple markers its last component. No patterns select everything.
// A pattern that matches nothing is a *NoMatchError, a malformed one wraps path.ErrBadPattern.
func Select(markers []*Marker, patterns []string) ([]*Marker, error) {
	if len(patterns) == 0 {
		return slices.Clone(markers), nil
	}
	chosen := make([]bool, len(markers))
	for _, pattern := range patterns {
		found := false
		for i, m := range markers {
			ok, err := match(pattern, m)
			if err != nil {
				return nil, fmt.Errorf("pattern %q: %w", pattern, err)
			}
			if ok {
				found, chosen[i] = true, true
			}
		}
		if !found {
			return nil, noMatch(pattern, markers)
		}
	}
	var out []*Marker
	for i, m := range markers {
		if chosen[i] {
			out = append(out, m)
		}
	}
	return out, nil
}

// Match reports whether any of the patterns matches a marker, as Select does; no patterns match
// everything. The error is that of a malformed one.
func Match(m *Marker, patterns []string) (bool, error) {
	found := len(patterns) == 0
	for _, pattern := range patterns {
		ok, err := match(pattern, m)
		if err != nil {
			return false, fmt.Errorf("pattern %q: %w", pattern, err)
		}
		found = found || ok
	}
	return found, nil
}

func match(pattern string, m *Marker) (bool, error) {
	provider, name, ok := strings.Cut(pattern, ":")
	if !ok {
		last := m.Name
		if m.Simple != nil { // whose names have any number of components
			last = last[strings.LastIndexByte(last, ':')+1:]
		}
		return glob(pattern, last)
	}
	if p, err := glob(provider, m.Provider); !p || err != nil {
		return false, err
	}
	return glob(name, m.Name)
}

// slash stands for '/' while matching: path.Match gives it a meaning, names do not.
var slash = strings.NewReplacer("/", "\x00")

func glob(pattern, name string) (bool, error) {
	return path.Match(slash.Replace(pattern), slash.Replace(name))
}

// noMatch lists the names closest to what was asked for.
func noMatch(pattern string, markers []*Marker) *NoMatchError {
	type candidate struct {
		name     string
		distance int
	}
	var all []candidate
	seen := map[string]bool{}
	for _, m := range markers {
		full := m.FullName()
		if seen[full] {
			continue
		}
		seen[full] = true
		compared := full
		if !strings.Contains(pattern, ":") {
			compared = m.Name
		}
		all = append(all, candidate{full, distance(pattern, compared)})
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(a.name, b.name)
	})
	e := &NoMatchError{Pattern: pattern, Total: len(all)}
	for _, c := range all[:min(len(all), maxAvailable)] {
		e.Available = append(e.Available, c.name)
	}
	return e
}

// maxCompared bounds what distance looks at: a note may carry a name of 64 KiB.
const maxCompared = 128

// distance is Levenshtein's edit distance between the first bytes of a and b.
func distance(a, b string) int {
	a, b = a[:min(len(a), maxCompared)], b[:min(len(b), maxCompared)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
