package cli

import (
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer"
)

// siteReason is why events of one site have no value of a field.
type siteReason struct {
	field *tracer.Field
	err   error
}

// siteReasons returns those of a site's operands that cannot be read. Another site can have them.
func siteReasons(m *tracer.Marker, s *sdt.Site) []siteReason {
	var all []siteReason
	for i := range min(len(m.Fields), len(s.Operands)) {
		if err := s.Operands[i].Err; err != nil && !m.Typed { // with types, a record is read
			all = append(all, siteReason{&m.Fields[i], err})
		}
	}
	return all
}
