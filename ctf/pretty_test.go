package ctf_test

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/ctf"
)

// pretty returns an event as babeltrace2 --clock-seconds --no-delta prints it, from packet contexts
// without the fields that mean something to a reader.
func pretty(e *ctf.Event) string {
	var b strings.Builder
	ns := e.Time
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	fmt.Fprintf(&b, "[%s%d.%09d] ", sign, ns/1e9, ns%1e9)
	b.WriteString(e.Class.Name + ": ")
	var parts []string
	for _, v := range []*ctf.Value{&e.PacketContext, &e.StreamContext, &e.Context, &e.Payload} {
		if v.Type == nil {
			continue
		}
		if text := prettyValue(v, v == &e.PacketContext); text != "{ }" || v != &e.PacketContext {
			parts = append(parts, text)
		}
	}
	b.WriteString(strings.Join(parts, ", "))
	return b.String()
}

// known are the fields of packet contexts that babeltrace2 does not print.
var known = map[string]bool{
	"timestamp_begin": true, "timestamp_end": true, "content_size": true, "packet_size": true,
	"packet_seq_num": true, "events_discarded": true,
}

func prettyValue(v *ctf.Value, packet bool) string {
	switch t := v.Type.(type) {
	case *ctf.Integer:
		return prettyInteger(t, v.Bits)
	case *ctf.Enum:
		names := t.Names(nil, v.Bits)
		for i := range names {
			names[i] = prettyText([]byte(names[i]))
		}
		if len(names) == 0 {
			names = []string{"<unknown>"}
		}
		return fmt.Sprintf("( %s : container = %s )", strings.Join(names, ", "), prettyInteger(&t.Integer, v.Bits))
	case *ctf.Float:
		return prettyFloat(v.Float())
	case *ctf.Struct:
		var parts []string
		for i := range v.Elems {
			if f := &t.Fields[i]; !packet || !known[f.Name] {
				parts = append(parts, " "+f.Name+" = "+prettyValue(&v.Elems[i], false))
			}
		}
		return "{" + strings.Join(parts, ",") + " }"
	case *ctf.Variant:
		return "{ " + prettyValue(&v.Elems[0], false) + " }"
	}
	if v.IsText() {
		return prettyText(v.Text)
	}
	var parts []string
	for i, c := range v.Text { // elements that are bytes
		parts = append(parts, fmt.Sprintf(" [%d] = %s", i, prettyByte(v, c)))
	}
	for i := range v.Elems {
		parts = append(parts, fmt.Sprintf(" [%d] = %s", i, prettyValue(&v.Elems[i], false)))
	}
	return "[" + strings.Join(parts, ",") + " ]"
}

func prettyByte(v *ctf.Value, c byte) string {
	var elem ctf.Type
	switch t := v.Type.(type) {
	case *ctf.Array:
		elem = t.Elem
	case *ctf.Sequence:
		elem = t.Elem
	}
	t := elem.(*ctf.Integer)
	if t.Signed {
		return prettyInteger(t, uint64(int64(int8(c))))
	}
	return prettyInteger(t, uint64(c))
}

func prettyInteger(t *ctf.Integer, bits uint64) string {
	mask := func(unit int) uint64 {
		if t.Size >= 64 {
			return math.MaxUint64
		}
		return 1<<((t.Size+unit-1)/unit*unit) - 1
	}
	switch t.Base {
	case 2:
		return fmt.Sprintf("0b%0*b", t.Size, bits&mask(1))
	case 8:
		if t.Signed {
			bits &= mask(3)
		}
		return fmt.Sprintf("0%o", bits)
	case 16:
		return fmt.Sprintf("0x%X", bits&mask(4))
	}
	if t.Signed {
		return strconv.FormatInt(int64(bits), 10)
	}
	return strconv.FormatUint(bits, 10)
}

// prettyFloat is C's %g.
func prettyFloat(f float64) string {
	switch {
	case math.IsNaN(f) && math.Signbit(f):
		return "-nan"
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"))
	}
	s := strconv.FormatFloat(f, 'e', 5, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	n, _ := strconv.Atoi(exponent)
	if n >= -4 && n < 6 {
		s = strconv.FormatFloat(f, 'f', 5-n, 64)
		if strings.Contains(s, ".") {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		return s
	}
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	return mantissa + "e" + exponent
}

// prettyText ends at a NUL, as babeltrace2's texts do.
func prettyText(text []byte) string {
	if i := bytes.IndexByte(text, 0); i >= 0 {
		text = text[:i]
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		switch {
		case strings.IndexByte(`\'"?`, c) >= 0:
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == 0x1b:
			b.WriteString(`\e`)
		case c >= '\a' && c <= '\r':
			b.WriteByte('\\')
			b.WriteByte("abtnvfr"[c-'\a'])
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// agree wants that babeltrace2 prints the same events. Where times are equal the order of streams is anybody's.
func agree(t *testing.T, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if len(got) != len(want) {
		t.Fatalf("%d events read, %d printed by babeltrace2", len(got), len(want))
	}
	for i := range got {
		if !agrees(got[i], want[i]) {
			t.Fatalf("event %d\nhere:        %s\nbabeltrace2: %s", i, got[i], want[i])
		}
	}
}

// agrees reports whether babeltrace2 prints an event as pretty does. Before 2.0.5 it prints for an empty text the one
// that was in its place last ("Fix: string field's clear"): any text agrees with that.
func agrees(ours, theirs string) bool {
	if ours == theirs {
		return true
	}
	parts := strings.Split(latin1(ours), ` ""`)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, ` "(?:[^"\\]|\\.)*"`) + `$`).MatchString(latin1(theirs))
}

// latin1 makes each byte a character, as regular expressions want UTF-8.
func latin1(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}
