package machine

import (
	"fmt"
	"strings"
	"time"
)

// timeConversions are the conversions of strftime(3) in the C locale, and bpftrace's %f.
var timeConversions = map[byte]func([]byte, time.Time) []byte{
	'a': layout("Mon"), 'A': layout("Monday"), 'b': layout("Jan"), 'h': layout("Jan"), 'B': layout("January"),
	'c': layout("Mon Jan _2 15:04:05 2006"), 'd': layout("02"), 'D': layout("01/02/06"), 'e': layout("_2"), 'F': layout("2006-01-02"),
	'H': layout("15"), 'I': layout("03"), 'm': layout("01"), 'M': layout("04"), 'p': layout("PM"), 'r': layout("03:04:05 PM"),
	'R': layout("15:04"), 'S': layout("05"), 'T': layout("15:04:05"), 'x': layout("01/02/06"), 'X': layout("15:04:05"),
	'y': layout("06"), 'Y': layout("2006"), 'z': layout("-0700"), 'Z': layout("MST"),
	'C': number("%02d", func(t time.Time) int { return t.Year() / 100 }),
	'f': number("%06d", func(t time.Time) int { return t.Nanosecond() / 1000 }),
	'g': number("%02d", func(t time.Time) int { y, _ := t.ISOWeek(); return y % 100 }),
	'G': number("%d", func(t time.Time) int { y, _ := t.ISOWeek(); return y }),
	'j': number("%03d", time.Time.YearDay),
	'k': number("%2d", time.Time.Hour),
	'l': number("%2d", func(t time.Time) int { return (t.Hour()+11)%12 + 1 }),
	's': number("%d", func(t time.Time) int { return int(t.Unix()) }),
	'u': number("%d", func(t time.Time) int { return int(t.Weekday()+6)%7 + 1 }),
	'w': number("%d", func(t time.Time) int { return int(t.Weekday()) }),
	'U': number("%02d", func(t time.Time) int { return (t.YearDay() + 6 - int(t.Weekday())) / 7 }),
	'V': number("%02d", func(t time.Time) int { _, w := t.ISOWeek(); return w }),
	'W': number("%02d", func(t time.Time) int { return (t.YearDay() + 6 - int(t.Weekday()+6)%7) / 7 }),
	'n': layout("\n"), 't': layout("\t"), '%': layout("%"),
	'P': func(b []byte, t time.Time) []byte { return append(b, strings.ToLower(t.Format("PM"))...) },
}

func layout(s string) func([]byte, time.Time) []byte {
	return func(b []byte, t time.Time) []byte { return t.AppendFormat(b, s) }
}

func number(format string, of func(time.Time) int) func([]byte, time.Time) []byte {
	return func(b []byte, t time.Time) []byte { return fmt.Appendf(b, format, of(t)) }
}

// CheckTimeFormat returns the first conversion of a format that is unknown, or "".
func CheckTimeFormat(format string) string {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		if i == len(format) {
			return "%"
		}
		if timeConversions[format[i]] == nil {
			return format[i-1 : i+1]
		}
	}
	return ""
}

// AppendTime appends a time of day in a format that CheckTimeFormat accepts.
func AppendTime(b []byte, format string, t time.Time) []byte {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b = append(b, format[i])
			continue
		}
		i++
		if convert := timeConversions[format[i]]; convert != nil {
			b = convert(b, t)
		}
	}
	return b
}
