package tracer

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/tracefs"
	"github.com/waymark-trace/waymark/tracer/kernelevent"
	"golang.org/x/sys/unix"
)

// needTracefs returns where it is mounted.
func needTracefs(t *testing.T) string {
	t.Helper()
	peer.KernelEvents(t)
	fs, err := tracefs.Find()
	if err != nil {
		t.Skip(err)
	}
	return fs.Dir()
}

// define defines events for the time of a test.
func define(t *testing.T, markers []*Marker) map[string]kernelevent.Event {
	t.Helper()
	events, err := kernelevent.Define(markers)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]kernelevent.Event{}
	for _, e := range events {
		byName[e.FullName()] = e
	}
	t.Cleanup(func() {
		for _, e := range events {
			if err := kernelevent.Delete(e.Group, e.Name); err != nil {
				t.Error(err)
			}
		}
	})
	return byName
}

// copyOf returns the program under a name of the test's own: events are everybody's.
func copyOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(to, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return to
}

// perfScript records events of a command and returns the lines of perf script from the
// event's name on.
func perfScript(t *testing.T, perf, events string, command ...string) []string {
	t.Helper()
	data := filepath.Join(t.TempDir(), "perf.data")
	run(t, append([]string{perf, "record", "-q", "-m", "8M", "-o", data, "-e", events, "--"}, command...)...)
	out, err := exec.Command(perf, "script", "-i", data, "-F", "event,trace").Output()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		line = regexp.MustCompile(`\([0-9a-f]+\) ?`).ReplaceAllString(strings.TrimSpace(line), "")
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}

// perf reads every argument of tick that tracefs can express, and each is what the program
// passed. (perf 6.1 prints s8 and s16 without their sign: see TestKernelEventFtrace.)
func TestKernelEventPerf(t *testing.T) {
	needTracefs(t)
	perf := peer.Need(t, "perf")[0]
	path := copyOf(t, tick(t))
	events := define(t, mustFind(t, Path(path)))
	for name, e := range events {
		if e.Existed || len(e.Remarks) > 0 != strings.HasSuffix(name, ":args") {
			t.Errorf("%+v", e)
		}
	}
	again, err := kernelevent.Define(mustFind(t, Path(path)))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range again {
		if !e.Existed {
			t.Errorf("%s is defined twice", e.FullName())
		}
	}
	lines := perfScript(t, perf, "sdt_sdt_tick:loop2", path, "3", "run")
	want := []string{"sdt_sdt_tick:loop2: arg1=0 arg2=0", "sdt_sdt_tick:loop2: arg1=1 arg2=-1", "sdt_sdt_tick:loop2: arg1=2 arg2=-2"}
	if d := cmp.Diff(want, lines); d != "" {
		t.Errorf("perf script (-want +got):\n%s", d)
	}
	for event, n := range perfStat(t, perf, "sdt_sdt_tick:*", path, "100000", "run") {
		if n != "100000" {
			t.Errorf("perf stat: %s is %s, want 100000", event, n)
		}
	}
	listed, err := kernelevent.List()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, e := range listed {
		if e.Group != "sdt_sdt_tick" || e.Places[0].Path != path {
			continue
		}
		seen++
		// perf record ran loop2 three times more.
		want := uint64(100000)
		if e.Name == "loop2" {
			want += 3
		}
		if e.Marker != "sdt_tick:"+e.Name || e.Hits != want || e.Enabled {
			t.Errorf("listed is %+v, want %d hits", e, want)
		}
	}
	if seen != len(events) {
		t.Errorf("%d of %d events are listed", seen, len(events))
	}
}

// perfStat returns the counts of events.
func perfStat(t *testing.T, perf, events string, command ...string) map[string]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "stat")
	run(t, append([]string{perf, "stat", "-x", " ", "-o", file, "-e", events, "--"}, command...)...)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 1 && strings.Contains(f[1], ":") {
			counts[f[1]] = f[0]
		}
	}
	if len(counts) == 0 {
		t.Fatalf("perf stat counted nothing:\n%s", data)
	}
	return counts
}

// ftrace prints what the kernel itself fetches: every sign is there. perf's own definition of
// the same marker lacks the arguments that it drops.
func TestKernelEventFtrace(t *testing.T) {
	dir := needTracefs(t)
	path := copyOf(t, tick(t))
	events := define(t, mustFind(t, Path(path), "args"))
	e := events["sdt_sdt_tick:args"]
	if len(events) != 1 || len(e.Places) != 1 {
		t.Fatalf("events %+v", events)
	}
	var left []string
	for _, r := range e.Remarks {
		left = append(left, fmt.Sprintf("%s %t %v", r.Arg, r.Left, r.Because))
	}
	if d := cmp.Diff([]string{"arg5 true its address is a sum of two registers, which tracefs cannot add"}, left); d != "" {
		t.Errorf("remarks (-want +got):\n%s", d)
	}
	instance := filepath.Join(dir, "instances", fmt.Sprintf("waymark-test-%d", os.Getpid()))
	if err := os.Mkdir(instance, 0o755); err != nil {
		t.Skip("no instance of ftrace: ", err)
	}
	defer os.Remove(instance)
	enable := filepath.Join(instance, "events", "sdt_sdt_tick", "args", "enable")
	if err := os.WriteFile(enable, []byte("1"), 0); err != nil {
		t.Fatal(err)
	}
	run(t, path, "3", "run")
	err := kernelevent.Delete(e.Group, e.Name)
	if !errors.Is(err, kernelevent.ErrBusy) {
		t.Errorf("deleting an event that is on: %v, want kernelevent.ErrBusy", err)
	}
	if err := os.WriteFile(enable, []byte("0"), 0); err != nil {
		t.Fatal(err)
	}
	trace, err := os.ReadFile(filepath.Join(instance, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(trace)) {
		if _, args, ok := strings.Cut(line, "args: ("); ok {
			_, args, _ = strings.Cut(strings.TrimSpace(args), ") ")
			got = append(got, args)
		}
	}
	var want []string
	for i := range 3 {
		// (int)-i, byte, initial 'w', stored, [table[i&3]: base and index], p.b, 7, -9
		want = append(want, fmt.Sprintf("arg1=%d arg2=%d arg3=119 arg4=-77 arg6=%d arg7=7 arg8=-9", -i, i, -i))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("ftrace (-want +got):\n%s\n%s", d, trace)
	}
}

// perf's own definitions of the same markers are at the same places and have a subset of our
// arguments, fetched from the same operands.
func TestKernelEventLikePerf(t *testing.T) {
	needTracefs(t)
	perf := peer.Need(t, "perf")[0]
	path := copyOf(t, tick(t))
	cache := t.TempDir()
	run(t, perf, "--buildid-dir", cache, "buildid-cache", "--add", path)
	ours := define(t, mustFind(t, Path(path)))
	var dropped []string
	for _, e := range ours {
		out, err := exec.Command(perf, "--buildid-dir", cache, "probe", "-q", "-D", "%"+e.FullName()).Output()
		if err != nil {
			t.Fatalf("perf probe -D %s: %v", e.FullName(), err)
		}
		lines := strings.Fields(strings.TrimSpace(string(out)))
		if len(lines) < 2 {
			t.Fatalf("perf probe -D %s says %q", e.FullName(), out)
		}
		p := e.Places[0]
		place := fmt.Sprintf("%s:%#x", path, p.Offset)
		if p.Counter != 0 {
			place += fmt.Sprintf("(%#x)", p.Counter)
		}
		if lines[0] != "p:"+e.Group+"/"+e.Name || lines[1] != place {
			t.Errorf("perf defines %s, ours is %s %s", lines[:2], e.FullName(), place)
		}
		theirs := map[string]bool{}
		for _, arg := range lines[2:] {
			theirs[arg] = true
		}
		for _, arg := range p.Args {
			if !theirs[arg] {
				dropped = append(dropped, e.Name+" "+arg)
			}
			delete(theirs, arg)
		}
		if len(theirs) > 0 {
			t.Errorf("%s: perf has %v, which ours lacks", e.FullName(), theirs)
		}
	}
	for i := range dropped {
		dropped[i] = regexp.MustCompile(`[0-9]+\(`).ReplaceAllString(dropped[i], "N(")
	}
	want := []string{"args arg3=+N(%ip):s8", "args arg4=+N(%ip):s32", `args arg7=\7:s32`, `args arg8=\-9:s64`}
	if d := cmp.Diff(want, dropped); d != "" {
		t.Errorf("arguments that perf drops (-want +got):\n%s", d)
	}
}

// A Go program's arguments have their names and values; a string is where it is and how long.
func TestKernelEventGo(t *testing.T) {
	needTracefs(t)
	perf := peer.Need(t, "perf")[0]
	path := linked(t, gobuild.Config{PIE: true}, "./link/testdata/allkinds")
	events := define(t, mustFind(t, Path(path)))
	for _, test := range []struct{ event, want string }{
		{"sdt_kinds:none", ``},
		{"sdt_kinds:signed", `i=-1 i8=-8 i16=-16 i32=-32 i64=-64`},
		{"sdt_kinds:unsigned", `u=0 u8=200 u16=60000 u32=4000000000 u64=18446744073709551615`},
		{"sdt_kinds:floats", `f32=0x3fc00000 f64=0xc002000000000000 yes=0`},
		{"sdt_kinds:texts", `s=0x[0-9a-f]+ s_len=6 b=0x[0-9a-f]+ b_len=9`},
		{"sdt_kinds:eight", `s=0x[0-9a-f]+ s_len=2 n=-5 yes=0 f=0x4004000000000000 u=250 h=-3 raw=0x[0-9a-f]+ raw_len=3 p=0`},
	} {
		if _, ok := events[test.event]; !ok {
			t.Errorf("no event %s", test.event)
			continue
		}
		lines := perfScript(t, perf, test.event, path)
		// perf 6.1 prints s8 and s16 without their sign.
		want := strings.NewReplacer("i8=-8", "i8=(-8|248)", "i16=-16", "i16=(-16|65520)", "h=-3", "h=(-3|65533)").Replace(test.want)
		if len(lines) != 1 || !regexp.MustCompile("^"+test.event+": ?"+want+"$").MatchString(lines[0]) {
			t.Errorf("%s: perf script says %q, want %s", test.event, lines, want)
		}
	}
}

func TestKernelEventRefuses(t *testing.T) {
	needTracefs(t)
	path := copyOf(t, tick(t))
	odd := filepath.Join(filepath.Dir(path), "a b")
	if err := os.Rename(path, odd); err != nil {
		t.Fatal(err)
	}
	_, err := kernelevent.Define(mustFind(t, Path(odd)))
	if !errors.Is(err, kernelevent.ErrPath) {
		t.Errorf("a path with a blank: %v, want kernelevent.ErrPath", err)
	}
	t.Log(err)
	link := filepath.Join(filepath.Dir(path), "link")
	if err := os.Symlink(odd, link); err != nil {
		t.Fatal(err)
	}
	define(t, mustFind(t, Path(link), "loop2"))
	markers := mustFind(t, Path(link), "loop1", "loop2")
	for _, m := range markers {
		if m.Name == "loop2" {
			m.Sites[0].CounterOffset += 2 // the place has another by now
		}
	}
	_, err = kernelevent.Define(markers)
	if !errors.Is(err, unix.EINVAL) || !errors.Is(err, ErrCounterConflict) {
		t.Errorf("defined with another counter: %v", err)
	}
	t.Log(err)
	all, err := kernelevent.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.Places[0].Path == link && e.Name != "loop2" {
			t.Errorf("%s is left of what was refused", e.FullName())
		}
	}
	if err := kernelevent.Delete("sdt_nobody", "nothing"); err != nil {
		t.Errorf("deleting what is not there: %v", err)
	}
}

// shape returns the names and types of an event's arguments.
func shape(args []string) (all string) {
	for _, arg := range args {
		name, fetch, _ := strings.Cut(arg, "=")
		all += name + fetch[strings.LastIndexByte(fetch, ':'):] + " "
	}
	return all
}

// Sites whose operands are of different types are several events of one marker.
func TestKernelEventSites(t *testing.T) {
	needTracefs(t)
	const postgres = "/usr/lib/postgresql/15/bin/postgres"
	peer.Need(t, postgres)
	events := define(t, mustFind(t, Path(postgres)))
	places := 0
	for _, e := range events {
		places += len(e.Places)
		for _, p := range e.Places {
			if shape(p.Args) != shape(e.Places[0].Args) {
				t.Errorf("%s: %v and %v", e.FullName(), p.Args, e.Places[0].Args)
			}
		}
	}
	if places != 71 { // readelf -n: field.md
		t.Errorf("%d places are defined of 71", places)
	}
	if n := len(events["sdt_postgresql:query__rewrite__start"].Places); n != 3 {
		t.Errorf("query__rewrite__start has %d places, perf gives it 3", n)
	}
	if _, ok := events["sdt_postgresql:sort__start_1"]; !ok {
		t.Error("sort__start, whose sites differ, is one event")
	}
}
