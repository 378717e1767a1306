package term

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"http:request_start", "http:request_start"},
		{"größer €", "größer €"},
		{"\x1b[2J", `\x1b[2J`},
		{"\x1b]0;t\x07", `\x1b]0;t\a`},
		{"a\rb\nc\td", `a\rb\nc\td`},
		{"\x7f", `\x7f`},
		{"\u009b31m", `\u009b31m`},
		{"\u202egnp.exe", `\u202egnp.exe`},
		{"\xff\xc3", `\xff\xc3`},
		{"", ""},
	} {
		if got := Printable(tt.in); got != tt.want {
			t.Errorf("printable(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b[31m\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{Printable(s), Label(s)} {
			if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
				t.Errorf("%q becomes %q", s, got)
			}
		}
		if n := Width(Label(s)); n > maxShown {
			t.Errorf("a label of %d cells", n)
		}
	})
}

func TestLabelOfLongName(t *testing.T) {
	got := Label(strings.Repeat("\x1b", 64<<10))
	if n := utf8.RuneCountInString(got); n != maxShown {
		t.Errorf("%d characters, want %d", n, maxShown)
	}
	if !strings.HasSuffix(got, "…") {
		t.Errorf("%q does not say that it is cut", got)
	}
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		in    string
		width int
		want  string
		cells int
	}{
		{"plain", 5, "plain", 5},
		{"plain", 4, "pla…", 4},
		{"plain", 0, "", 0},
		{"漢字", 4, "漢字", 4},
		{"漢字", 3, "漢…", 3},
		{"漢字", 2, "…", 1},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…", 2},
		{"👍🏽👍🏽", 3, "👍🏽…", 3},
		{"🇨🇭🇦🇹", 3, "🇨🇭…", 3},
	} {
		got := Clip(tt.in, tt.width)
		if n := Width(got); got != tt.want || n != tt.cells {
			t.Errorf("Clip(%q, %d) = %q of %d cells, want %q of %d", tt.in, tt.width, got, n, tt.want, tt.cells)
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("plain", 3)
	f.Add("漢字👍🏽e\u0301", 5)
	f.Fuzz(func(t *testing.T, s string, width int) {
		s, width = Printable(s), width%100
		got := Clip(s, width)
		if n := Width(got); n > max(width, 0) || Width(s) <= width && got != s || n < width-2 && got != s {
			t.Errorf("Clip(%q, %d) = %q of %d cells", s, width, got, n)
		}
		if n := Width(Pad(got, width)); width > 0 && n != width {
			t.Errorf("Pad(%q, %d) has %d cells", got, width, n)
		}
	})
}

func TestList(t *testing.T) {
	for want, words := range map[string][]string{
		"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"},
	} {
		if got := List(words); got != want {
			t.Errorf("list(%q) = %q, want %q", words, got, want)
		}
	}
}
