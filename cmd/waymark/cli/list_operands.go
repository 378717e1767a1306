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
	if m.Typed { // a record is read
		return nil
	}
	for i := range m.Fields {
		f := &m.Fields[i]
		if f.Operand == 0 || f.Operand > len(s.Operands) {
			continue
		}
		if err := s.Operands[f.Operand-1].Err; err != nil {
			all = append(all, siteReason{f, err})
		}
	}
	return all
}
