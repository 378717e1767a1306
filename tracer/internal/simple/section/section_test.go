package section

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestText(t *testing.T) {
	for _, tt := range []struct{ description, variables, want string }{
		{"Command being queued %p Done function %p", "cmd, scsi_done", "Command being queued $cmd; Done function $scsi_done"},
		{"Command returning %p Return value %d", "cmd, rtn", "Command returning $cmd; Return value $rtn"},
		{"a %d, b %d", "a, b", "a $a, b $b"},
		{"a=%d b=%s", "a, b", "a=$a; b=$b"},
		{"plain", "", "plain"},
		{"", "", ""},
		{"done 100%% of %lu", "n", "done 100% of $n"},
		{"%-*.*s|%d", "w, p, s, n", "$s|$n"},
		{"%08llx %zu %Lf %hhd %td %jd", "a, b, c, d, e, f", "$a $b $c $d $e $f"},
		{"%t %q %v", "ok, s, x", "$ok $s $x"},
		{"len %d", "cmd->len", "len $cmd->len"},
		{"len %d at %p", "f(a, b), &cmd", "len $(f(a, b)); at $(&cmd)"},
		{"%c %s", `",'"[0], x`, `$(",'"[0]) $x`},
		{"too few %d %d", "a", "too few $a %d"},
		{"lone %! and %", "a", "lone %! and %"},
		{"field %s", "r.URL.Path[i]", "field $r.URL.Path[i]"},
	} {
		if got := (Record{Description: tt.description, Variables: tt.variables}).Text(); got != tt.want {
			t.Errorf("Text of %q with %q is %q, want %q", tt.description, tt.variables, got, tt.want)
		}
	}
}

func TestParse(t *testing.T) {
	good := "a:b\x00f.c\x0012\x00n %d\x00n\x00"
	want := Record{"a:b", "f.c", 12, "n %d", "n"}
	for _, tt := range []struct {
		data    string
		records []Record
		problem string
	}{
		{"", nil, ""},
		{good, []Record{want}, ""},
		{good + good, []Record{want}, ""},
		{"\x00\x00" + good + "\x00", []Record{want}, ""},
		{"x\x00f.c\x00none\x00\x00\x00" + good, []Record{want}, `its line is "none"`},
		{"x\x00f.c\x00-1\x00\x00\x00", nil, `its line is "-1"`},
		{"x\x00f.c\x000\x00\x00\x00", nil, `its line is "0"`},
		{strings.Repeat("x", 257) + "\x00f.c\x001\x00\x00\x00" + good, []Record{want}, "name has 257 bytes"},
		{good + "x\x00f.c\x001\x00\x00", []Record{want}, "byte 18: cut off"},
		{"x", nil, "cut off"},
	} {
		records, problems := Parse([]byte(tt.data))
		if d := cmp.Diff(tt.records, records); d != "" {
			t.Errorf("Parse(%q): (-want +got)\n%s", tt.data, d)
		}
		if got := (len(problems) > 0); got != (tt.problem != "") || got && !strings.Contains(problems[0].Error(), tt.problem) {
			t.Errorf("Parse(%q): problems %v, want %q", tt.data, problems, tt.problem)
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	for _, r := range []Record{
		{Line: 1}, {Name: "x"}, {Name: "x", Line: -1}, {Name: "a\x00", Line: 1}, {Name: "x", Line: 1, Variables: "\x00"},
		{Name: "x", Line: 1, Description: strings.Repeat("y", maxText+1)},
	} {
		if out, err := Append(nil, r); err == nil {
			t.Errorf("Append(%.60q) wrote %q", r, out)
		}
	}
}

// FuzzParse reads hostile sections: what was read is written as it was, and every text that
// is made of it is bounded by what it was made of.
func FuzzParse(f *testing.F) {
	f.Add([]byte("a:b\x00f.c\x0012\x00n %d\x00n\x00"))
	f.Add([]byte("\x00x\x00\x001\x00%-*.*s%\x00((',\"\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, _ := Parse(data)
		var out []byte
		for _, r := range records {
			if n := len(r.Text()); n > 2*len(r.Description)+4*len(r.Variables)+8 {
				t.Errorf("Text of %q has %d bytes", r, n)
			}
			var err error
			if out, err = Append(out, r); err != nil {
				t.Fatalf("writing what was read: %v", err)
			}
		}
		if len(out) > len(data)+8*len(records) { // a line number of "+1"
			t.Errorf("%d bytes made of %d", len(out), len(data))
		}
		again, problems := Parse(out)
		if d := cmp.Diff(records, again); d != "" || problems != nil {
			t.Errorf("reading what was written: %v (-first +second)\n%s", problems, d)
		}
	})
}
