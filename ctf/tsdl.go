package ctf

import (
	"fmt"
	"strconv"
	"strings"
)

// appendField writes a field's declaration without its semicolon: numbers of elements follow the name.
func appendField(b []byte, name string, t Type, depth int) []byte {
	suffix := ""
	for {
		switch a := t.(type) {
		case *Array:
			t, suffix = a.Elem, suffix+"["+strconv.Itoa(a.Len)+"]"
			continue
		case *Sequence:
			t, suffix = a.Elem, suffix+"["+reference(a.Length)+"]"
			continue
		}
		break
	}
	b = appendType(b, t, depth)
	b = append(b, ' ')
	b = append(b, name...)
	return append(b, suffix...)
}

// reference spells a path: from a root as it is, and otherwise with the underscores of fields.
func reference(path string) string {
	for _, root := range scopeNames {
		if rest, ok := strings.CutPrefix(path, root+"."); ok {
			return root + "." + underscored(rest)
		}
	}
	return underscored(path)
}

func underscored(path string) string {
	return "_" + strings.ReplaceAll(path, ".", "._")
}

func appendType(b []byte, t Type, depth int) []byte {
	switch t := t.(type) {
	case *Integer:
		return t.append(b)
	case *Enum:
		b = append(b, "enum : "...)
		b = append(t.Integer.append(b), " { "...)
		for i, l := range t.Labels {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendQuoted(b, l.Name)
			b = append(b, " = "...)
			b = t.appendBound(b, l.Low)
			if l.High != l.Low {
				b = append(b, " ... "...)
				b = t.appendBound(b, l.High)
			}
		}
		return append(b, " }"...)
	case *Float:
		exponent, mantissa := 8, 24
		if t.Size == 64 {
			exponent, mantissa = 11, 53
		}
		return fmt.Appendf(b, "floating_point { exp_dig = %d; mant_dig = %d; align = %d;%s }", exponent, mantissa, alignment(t.Align, t.Size), t.Order.attribute())
	case *String:
		return append(b, "string"...)
	case *Struct:
		b = append(b, "struct {\n"...)
		for i := range t.Fields {
			b = appendTabs(b, depth+1)
			b = append(appendField(b, t.Fields[i].spelled(), t.Fields[i].Type, depth+1), ";\n"...)
		}
		b = append(appendTabs(b, depth), '}')
		if t.Align > 1 {
			b = fmt.Appendf(b, " align(%d)", t.Align)
		}
		return b
	case *Variant:
		tag := reference(t.Tag)
		if t.raw {
			tag = t.Tag
		}
		b = fmt.Appendf(b, "variant <%s> {\n", tag)
		for _, o := range t.Options { // named as the tag's labels are
			b = appendTabs(b, depth+1)
			b = append(appendField(b, o.Name, o.Type, depth+1), ";\n"...)
		}
		return append(appendTabs(b, depth), '}')
	}
	return b // a writer compiles every type first, which finds others
}

func appendTabs(b []byte, n int) []byte {
	for range n {
		b = append(b, '\t')
	}
	return b
}

func (t *Integer) append(b []byte) []byte {
	b = fmt.Appendf(b, "integer { size = %d; align = %d; signed = %t;", t.Size, alignment(t.Align, t.Size), t.Signed)
	if t.Base != 0 && t.Base != 10 {
		b = fmt.Appendf(b, " base = %d;", t.Base)
	}
	if t.UTF8 {
		b = append(b, " encoding = UTF8;"...)
	}
	if t.Clock != "" {
		b = fmt.Appendf(b, " map = clock.%s.value;", t.Clock)
	}
	return append(append(b, t.Order.attribute()...), " }"...)
}

func (t *Enum) appendBound(b []byte, n uint64) []byte {
	if t.Signed {
		return strconv.AppendInt(b, int64(n), 10)
	}
	return strconv.AppendUint(b, n, 10)
}

func (o ByteOrder) attribute() string {
	switch o {
	case LittleEndian:
		return " byte_order = le;"
	case BigEndian:
		return " byte_order = be;"
	}
	return ""
}

// appendQuoted writes a string literal. Control characters are escaped in octal, which has the one
// length that no following digit can change.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c == 0x7f:
			b = fmt.Appendf(b, `\%03o`, c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
