package cli

import (
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer"
)

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
