package event

import (
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/diff"
)

func TestParseFormat(t *testing.T) {
	for _, tt := range []struct {
		format string
		want   []Verb
	}{
		{"", nil},
		{"prev_pid %d next_pid %d prev_state %ld", []Verb{{"prev_pid", "%d", 'd'}, {"next_pid", "%d", 'd'}, {"prev_state", "%ld", 'd'}}},
		{"path=%s", []Verb{{"path", "%s", 's'}}},
		{"path: %s, attempt: %08llx", []Verb{{"path", "%s", 's'}, {"attempt", "%08llx", 'x'}}},
		{"%d %s", []Verb{{"arg1", "%d", 'd'}, {"arg2", "%s", 's'}}},
		{"done 100%% of %u", []Verb{{"of", "%u", 'u'}}},
		{"quoted %q truth %t size %zu", []Verb{{"quoted", "%q", 'q'}, {"truth", "%t", 't'}, {"size", "%zu", 'u'}}},
		{"ratio %-6.2f flags %#x", []Verb{{"ratio", "%-6.2f", 'f'}, {"flags", "%#x", 'x'}}},
		{"Command being queued %p Done function %p", []Verb{{"queued", "%p", 'p'}, {"function", "%p", 'p'}}},
	} {
		got, err := ParseFormat(tt.format)
		if err != nil {
			t.Errorf("ParseFormat(%q): %v", tt.format, err)
		}
		if d := diff.Of(tt.want, got); d != "" {
			t.Errorf("ParseFormat(%q): (-want +got)\n%s", tt.format, d)
		}
	}
}

func TestParseFormatRefuses(t *testing.T) {
	for format, want := range map[string]string{
		"a %":                     "no conversion",
		"a %5":                    "no conversion",
		"a %n":                    "is not one of",
		"a %*d":                   "is not one of",
		"pid %d pid %d":           "two fields pid",
		"a\x00 %d":                "NUL",
		strings.Repeat("x", 5000): "at most 4096",
	} {
		if _, err := ParseFormat(format); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseFormat(%.20q): error %v, want one with %q", format, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		format string
		args   []Kind
		want   string // part of the error, "" for none
	}{
		{"a %d b %s", []Kind{Int32, String}, ""},
		{"a %ld", []Kind{Uint64}, ""},
		{"a %u", []Kind{Int}, "try %d"},
		{"a %d", nil, "1 verbs for 0 arguments"},
		{"a %s", []Kind{Int}, "cannot print field a, which is int; try %d"},
		{"a %v b %v c %v", []Kind{Bool, Bytes, Float32}, ""},
		{"a %x", []Kind{Bytes}, ""},
		{"a %p", []Kind{Pointer}, ""},
		{"a %d", []Kind{Bool}, "try %t"},
	} {
		_, err := Check(tt.format, tt.args)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Check(%q, %v): error %v, want %q", tt.format, tt.args, err, tt.want)
		}
	}
}

func TestParseName(t *testing.T) {
	for _, tt := range []struct{ in, provider, name, err string }{
		{"http:request_start", "http", "request_start", ""},
		{"request_start", "", "request_start", ""},
		{"a:b:c", "", "", "letters, digits"},
		{":x", "", "", "provider is empty"},
		{"x:", "", "", "name is empty"},
		{"http-2:x", "", "", `has "-" at byte 4`},
		{"x:" + strings.Repeat("y", 60), "", "", "at most 59"},
		{"d__trace:on__cpu", "d__trace", "on__cpu", ""},
	} {
		p, n, err := ParseName(tt.in)
		if p != tt.provider || n != tt.name || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("ParseName(%q) = %q, %q, %v", tt.in, p, n, err)
		}
	}
}

func TestLayout(t *testing.T) {
	got := Layout([]Kind{Int8, String, Bool, Int32, Float64, Int16, Bytes})
	if d := diff.Of([]int{0, 8, 24, 28, 32, 40, 48}, got); d != "" {
		t.Error(d)
	}
}

func FuzzParseFormat(f *testing.F) {
	f.Add("prev_pid %d next_pid %08lx")
	f.Add("%")
	f.Add("a%%b%lq")
	f.Fuzz(func(t *testing.T, s string) {
		verbs, err := ParseFormat(s)
		if err != nil {
			return
		}
		for _, v := range verbs {
			if !strings.Contains(s, v.Text) || v.Name == "" {
				t.Errorf("%q: verb %+v is not from the format", s, v)
			}
		}
	})
}
