package cli

import (
	"errors"
	"fmt"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/tracer"
)

// jsonSkipped is an object of stat, trace and latency --json.
type jsonSkipped struct {
	Skipped string `json:"skipped"`
	Marker  string `json:"marker"`
	File    string `json:"file"`
	Address uint64 `json:"address"`
}

// skips says which sites are left out, and why: in one line where a reason is a whole file's.
func (s *session) skips(skipped []*tracer.SiteError) error {
	said, shown := 0, 0
	for rest := skipped; len(rest) > 0 && said < maxProblems; said++ {
		n := alike(rest)
		_, hint := explain.Error(rest[0])
		if shown += n; n == 1 {
			s.env.Warning("%v", rest[0])
		} else {
			s.env.Warning("%s: %s left out: %v", rest[0].Marker.File.Path, term.Plural(n, "site"), rest[0].Err)
		}
		if hint != "" && said == 0 && !errors.Is(rest[0], tracer.ErrRedZone) { // whose is for who has nothing else
			s.env.Hint("%s", hint)
		}
		rest = rest[n:]
	}
	if more := len(skipped) - shown; more > 0 {
		s.env.Warning("%s left out besides; --json has them all", term.Plural(more, "site"))
	}
	if s.json == nil {
		return nil
	}
	for _, e := range skipped {
		m := e.Marker
		if err := writeJSON(s.json, &jsonSkipped{e.Err.Error(), m.FullName(), m.File.Path, uint64(m.Sites[e.Site].Address)}); err != nil {
			return err
		}
	}
	return nil
}

// alike returns how many sites at the beginning are of one file and left out for one reason.
func alike(skipped []*tracer.SiteError) int {
	first := fmt.Sprint(skipped[0].Err)
	for n, e := range skipped {
		if e.Marker.File != skipped[0].Marker.File || e.Err.Error() != first {
			return n
		}
	}
	return len(skipped)
}

// leftOut returns the markers of which no site is attached.
func leftOut(skipped []*tracer.SiteError) map[*tracer.Marker]bool {
	n, all := map[*tracer.Marker]int{}, map[*tracer.Marker]bool{}
	for _, e := range skipped {
		n[e.Marker]++
		all[e.Marker] = n[e.Marker] >= len(e.Marker.Sites)
	}
	return all
}

// attachedTo is what there is of so many markers and sites.
func (s *session) attachedTo(skipped []*tracer.SiteError) string {
	markers := len(s.markers)
	for _, all := range leftOut(skipped) {
		if all {
			markers--
		}
	}
	return term.Plural(markers, "marker") + " at " + term.Plural(sites(s.markers)-len(skipped), "site")
}
