package ctf

import (
	"fmt"
	"strconv"
)

// fixed is a field whose name readers know: it has no underscore in metadata.
func fixed(name string, t Type) Field { return Field{Name: name, Type: t, raw: name} }

func unsigned(size int) *Integer { return &Integer{Size: size} }

func packetHeaderType() *Struct {
	return &Struct{Fields: []Field{
		fixed("magic", unsigned(32)), fixed("uuid", &Array{Len: 16, Elem: unsigned(8)}), fixed("stream_id", unsigned(32)),
	}}
}

func packetContextType(clock string) *Struct {
	return &Struct{Fields: []Field{
		fixed("timestamp_begin", &Integer{Size: 64, Clock: clock}),
		fixed("timestamp_end", &Integer{Size: 64, Clock: clock}),
		fixed("content_size", unsigned(64)),
		fixed("packet_size", unsigned(64)),
		fixed("packet_seq_num", unsigned(64)),
		fixed("events_discarded", unsigned(64)),
		fixed("cpu_id", unsigned(32)),
	}}
}

func eventHeaderType(clock string) *Struct {
	return &Struct{Fields: []Field{
		fixed("id", unsigned(16)), fixed("timestamp", &Integer{Size: 64, Clock: clock}),
	}}
}

// alignedHeaderType is the header of events that begin at a multiple of 8 bytes: as in LTTng's traces
// 4 bytes with the low bits of the time, which the time of the event before, or of the packet's
// beginning, completes; or else an ID and a time of any size.
func alignedHeaderType(clock string) *Struct {
	return &Struct{Align: 8 * boundary, Fields: []Field{
		fixed("id", &Enum{Integer: Integer{Size: idBits, Align: 1}, Labels: []Label{
			{Name: "compact", High: extendedID - 1}, {Name: "extended", Low: extendedID, High: extendedID},
		}}),
		fixed("v", &Variant{Tag: "id", raw: true, Options: []Field{
			{Name: "compact", Type: &Struct{Fields: []Field{fixed("timestamp", &Integer{Size: timeBits, Align: 1, Clock: clock})}}},
			{Name: "extended", Type: &Struct{Fields: []Field{
				fixed("id", &Integer{Size: 32, Align: 32}), fixed("timestamp", &Integer{Size: 64, Align: 32, Clock: clock}),
			}}},
		}}),
	}}
}

const (
	boundary   = 8 // the alignment of such events, in bytes
	idBits     = 10
	extendedID = 1<<idBits - 1
	timeBits   = 32 - idBits
)

// metadata returns the description of the whole trace. The caller holds mu.
func (w *Writer) metadata() []byte {
	b := []byte("/* CTF 1.8 */\n\n")
	b = fmt.Appendf(b, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = %q;\n\tbyte_order = le;\n", w.o.UUID)
	b = appendScope(b, "packet.header", packetHeaderType())
	b = append(b, "};\n\nenv {\n"...)
	for _, e := range w.env {
		b = fmt.Appendf(b, "\t%s = ", word(e.Name))
		if e.IsText {
			b = appendQuoted(b, e.Text)
		} else {
			b = strconv.AppendInt(b, e.Number, 10)
		}
		b = append(b, ";\n"...)
	}
	b = append(b, "};\n\n"...)
	b = appendClock(b, &w.o.Clock)
	for _, s := range w.streams {
		b = fmt.Appendf(b, "stream {\n\tid = %d;\n", s.ID)
		b = appendScope(b, "packet.context", s.PacketContext)
		b = appendScope(b, "event.header", s.EventHeader)
		b = appendScope(b, "event.context", s.EventContext)
		b = append(b, "};\n\n"...)
		for _, e := range s.Events {
			b = append(b, "event {\n\tname = "...)
			b = appendQuoted(b, e.Name)
			b = fmt.Appendf(b, ";\n\tid = %d;\n\tstream_id = %d;\n", e.ID, s.ID)
			b = appendScope(b, "context", e.Context)
			b = appendScope(b, "fields", e.Payload)
			b = append(b, "};\n\n"...)
		}
	}
	return b
}

func appendScope(b []byte, name string, t *Struct) []byte {
	if t == nil {
		return b
	}
	b = fmt.Appendf(b, "\t%s := ", name)
	return append(appendType(b, t, 1), ";\n"...)
}

func appendClock(b []byte, c *Clock) []byte {
	b = fmt.Appendf(b, "clock {\n\tname = %q;\n", c.Name)
	if c.UUID != (UUID{}) {
		b = fmt.Appendf(b, "\tuuid = %q;\n", c.UUID)
	}
	b = append(b, "\tdescription = "...)
	b = appendQuoted(b, c.Description)
	return fmt.Appendf(b, ";\n\tfreq = %d;\n\tprecision = %d;\n\toffset_s = %d;\n\toffset = %d;\n\tabsolute = %t;\n};\n\n",
		c.Freq, c.Precision, c.OffsetSeconds, c.Offset, c.Absolute)
}

// checkNames finds names that metadata has no way to write.
func checkNames(t Type) error {
	var fields []Field
	switch t := t.(type) {
	case *Struct:
		if t == nil {
			return nil
		}
		fields = t.Fields
	case *Variant:
		fields = t.Options
	case *Array:
		return checkNames(t.Elem)
	case *Sequence:
		return checkNames(t.Elem)
	}
	seen := make(map[string]bool, len(fields))
	for _, f := range fields {
		switch {
		case !isWord(f.Name):
			return fmt.Errorf("field %q: a name is letters, digits and underscores", f.Name)
		case seen[f.Name]:
			return fmt.Errorf("two fields are named %s", f.Name)
		}
		seen[f.Name] = true
		if err := checkNames(f.Type); err != nil {
			return err
		}
	}
	return nil
}

// isWord reports whether s is letters, digits and underscores, and something.
func isWord(s string) bool { return s != "" && word(s) == s }

// word replaces characters that names cannot have.
func word(s string) string {
	b := []byte(s)
	for i, c := range b {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_') {
			b[i] = '_'
		}
	}
	return string(b)
}
