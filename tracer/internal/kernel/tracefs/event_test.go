package tracefs

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommand(t *testing.T) {
	for _, test := range []struct {
		e    Event
		want string // "" is refused
	}{
		{Event{Group: "sdt_a", Name: "b", Path: "/x", Offset: 0x10}, "p:sdt_a/b /x:0x10"},
		{Event{Group: "sdt_a", Name: "b", Path: "/x:y(1)", Offset: 0x10, Counter: 2, Args: []string{"a=%ax:s32"}}, "p:sdt_a/b /x:y(1):0x10(0x2) a=%ax:s32"},
		{Event{Group: "sdt_a", Name: "b", Path: "/x y"}, ""},
		{Event{Group: "sdt_a", Name: "b", Path: "/x\ny"}, ""},
		{Event{Group: "sdt_a", Name: "b", Path: "/x\u00e0"}, ""}, // its second byte is 0xa0
		{Event{Group: "sdt_a", Name: "b", Path: "/x#y"}, ""},
		{Event{Group: "sdt_a", Name: "b", Path: "x"}, ""},
		{Event{Group: "sdt-a", Name: "b", Path: "/x"}, ""},
		{Event{Group: "sdt_a", Name: "1", Path: "/x"}, ""},
		{Event{Group: "sdt_a", Name: "", Path: "/x"}, ""},
		{Event{Group: "sdt_a", Name: "b", Path: "/" + strings.Repeat("x", 5000)}, ""},
	} {
		got, err := test.e.Command()
		if (err != nil) != (test.want == "") || err == nil && got != test.want {
			t.Errorf("%+.100v: %q, %v; want %q", test.e, got, err, test.want)
		}
	}
	if err := CheckPath("/a b"); !errors.Is(err, ErrPath) {
		t.Errorf("%v is not ErrPath", err)
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("n", 100)
	for _, test := range []struct {
		provider, name string
		n              int
		want           string
	}{
		{"http", "request_start", 0, "sdt_http:request_start"},
		{"http", "request_start", 2, "sdt_http:request_start_2"},
		{"a-b.c", "x/y z", 0, "sdt_a_b_c:x_y_z"},
		{"", "1st", 0, "sdt_:_1st"},
		{"p", long, 12, "sdt_p:" + long[:60] + "_12"},
	} {
		group, name := EventNames(test.provider, test.name, test.n)
		if got := group + ":" + name; got != test.want {
			t.Errorf("%q:%q, %d: %q, want %q", test.provider, test.name, test.n, got, test.want)
		}
	}
	names := ArgNames{}
	var got []string
	for _, n := range []string{"path", "path", "common_pid", "path_2", "", "ü", strings.Repeat("y", 40), strings.Repeat("y", 41)} {
		got = append(got, names.Unique(n))
	}
	want := []string{"path", "path_2", "common_pid_2", "path_2_2", "_", "__", strings.Repeat("y", 31), strings.Repeat("y", 29) + "_2"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("argument names (-want +got):\n%s", d)
	}
}

func TestParseEvents(t *testing.T) {
	text := "p:sdt_t/loop2 /tmp/a:b:0x0000000000001208(0x305a) arg1=%bx:s64 arg2=%ax:s32\n" +
		"r:g/e /tmp/x:0x0000000000001000%return\n\np:g/e /tmp/x:0x0000000000002000\n"
	all, err := parseEvents([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	addHits(all, []byte("  /tmp/gone gone 7\n  /tmp/a:b loop2     5\n  /tmp/x e  1\n  /tmp/x e 18446744073709551615\nx\n"))
	want := []Event{
		{Group: "sdt_t", Name: "loop2", Path: "/tmp/a:b", Offset: 0x1208, Counter: 0x305a, Args: []string{"arg1=%bx:s64", "arg2=%ax:s32"}, Hits: 5},
		{Return: true, Group: "g", Name: "e", Path: "/tmp/x", Offset: 0x1000, Args: []string{}, Hits: 1},
		{Group: "g", Name: "e", Path: "/tmp/x", Offset: 0x2000, Args: []string{}, Hits: 1<<64 - 1},
	}
	if d := cmp.Diff(want, all); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	for _, bad := range []string{"x", "p:a /x:1", "p:a/b /x", "q:a/b /x:1", "p:a/b /x:y", "p:a/b /x:1(z)", ":", "p:a/b"} {
		if _, err := parseEvents([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func FuzzParseEvents(f *testing.F) {
	f.Add("p:sdt_t/loop2 /tmp/a:0x1208(0x305a) arg1=%bx:s64\n", "  /tmp/a loop2 5\n")
	f.Fuzz(func(t *testing.T, events, profile string) {
		all, err := parseEvents([]byte(events))
		addHits(all, []byte(profile))
		for i := range all {
			// What is written can be read and is the same again.
			command, refused := all[i].Command()
			if err != nil || refused != nil || all[i].Return {
				continue
			}
			again, err := parseEvent(command)
			again.Hits = all[i].Hits
			if err != nil || !reflect.DeepEqual(all[i], again) {
				t.Errorf("%q: %+v, %v; want %+v", command, again, err, all[i])
			}
		}
	})
}
