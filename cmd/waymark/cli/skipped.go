package cli

import "github.com/waymark-trace/waymark/tracer"

// jsonSkipped is an object of stat, trace and latency --json.
type jsonSkipped struct {
	Skipped string `json:"skipped"`
	Marker  string `json:"marker"`
	File    string `json:"file"`
	Address uint64 `json:"address"`
}

// skips says which sites are left out, and why.
func (s *session) skips(skipped []*tracer.SiteError) error {
	for i, e := range skipped {
		if i < maxProblems {
			s.env.warning("%v", e)
		}
		if s.json == nil {
			continue
		}
		m := e.Marker
		if err := writeJSON(s.json, &jsonSkipped{e.Err.Error(), m.FullName(), m.File.Path, uint64(m.Sites[e.Site].Address)}); err != nil {
			return err
		}
	}
	if more := len(skipped) - maxProblems; more > 0 {
		s.env.warning("%s left out besides; --json has them all", plural(more, "site"))
	}
	return nil
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
	return plural(markers, "marker") + " at " + plural(sites(s.markers)-len(skipped), "site")
}
