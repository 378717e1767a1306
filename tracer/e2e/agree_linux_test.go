package e2e

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/sdt"
)

const passes = 3

// On one linked binary, every tool sees the same markers at the same places with the same
// arguments, however the binary was built.
func TestToolsAgree(t *testing.T) {
	peer.Root(t)
	peer.Need(t, "readelf", "gdb", "perf", "bpftrace")
	old, recent := gobuild.Versions[0], gobuild.Versions[1]
	// Each two of release, PIE and stripping come together in every way.
	for _, c := range []gobuild.Config{{Go: old}, {Go: old, PIE: true, Strip: true}, {Go: recent, PIE: true}, {Go: recent, Strip: true}} {
		t.Run(c.String(), func(t *testing.T) {
			path := allkinds(t, c)
			f, err := sdt.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			sites := make(map[string]sdt.Site)
			for _, s := range f.Sites {
				if s.Provider == "kinds" {
					sites[s.Name] = s
				}
			}
			if got, want := slices.Sorted(maps.Keys(sites)), slices.Sorted(maps.Keys(kinds)); !slices.Equal(got, want) {
				t.Fatalf("waymark lists %q, want %q", got, want)
			}
			t.Run("waymark", func(t *testing.T) { checkEvents(t, traced(t, path, passes), passes) })
			t.Run("readelf", func(t *testing.T) { checkReadelf(t, path, sites) })
			t.Run("gdb", func(t *testing.T) { checkGDB(t, path, sites) })
			t.Run("perf", func(t *testing.T) { checkPerf(t, path, sites) })
			t.Run("bpftrace", func(t *testing.T) { checkBpftrace(t, path) })
		})
	}
}

func checkReadelf(t *testing.T, path string, sites map[string]sdt.Site) {
	out := run(t, "readelf", "-n", path)
	note := regexp.MustCompile(`Provider:\s+(\w+)\s+Name:\s+(\w+)\s+Location:\s+0x(\w+),\s+Base:\s+0x(\w+),\s+Semaphore:\s+0x(\w+)\s+Arguments:[ \t]*(.*)`)
	seen := 0
	for _, m := range note.FindAllStringSubmatch(out, -1) {
		if m[1] != "kinds" {
			continue
		}
		seen++
		s := sites[m[2]]
		want := fmt.Sprintf("%016x %016x %016x %s", s.Location, s.Base, s.Semaphore, s.Args)
		if got := strings.Join(m[3:7], " "); got != want {
			t.Errorf("readelf: %s is %q, want %q", m[2], got, want)
		}
	}
	if seen != len(kinds) {
		t.Errorf("readelf shows %d markers, want %d:\n%s", seen, len(kinds), out)
	}
}

func checkGDB(t *testing.T, path string, sites map[string]sdt.Site) {
	// -nx and auto-load off: Go ships a gdb script that is of no use here.
	gdb := []string{"-nx", "-batch", "-iex", "set auto-load off", "-iex", "set language c"}
	out := run(t, "gdb", append(gdb, "-ex", "info probes stap kinds", path)...)
	seen := 0
	for _, m := range regexp.MustCompile(`(?m)^\s*(?:stap\s+)?kinds\s+(\w+)\s+0x(\w+)\s+0x(\w+)`).FindAllStringSubmatch(out, -1) {
		seen++
		s := sites[m[1]]
		if want := fmt.Sprintf("%016x %016x", s.Location, s.Semaphore); m[2]+" "+m[3] != want {
			t.Errorf("gdb: %s at %s, want %s", m[1], m[2:], want)
		}
	}
	if seen != len(kinds) {
		t.Errorf("gdb shows %d markers, want %d:\n%s", seen, len(kinds), out)
	}
	for _, name := range []string{"signed", "floats", "eight"} {
		var format, args []string
		for i := range kinds[name] {
			format = append(format, "%ld")
			args = append(args, fmt.Sprintf("(long)$_probe_arg%d", i))
		}
		out := run(t, "gdb", append(gdb, "-ex", "handle SIGURG nostop noprint", "-ex", "break -probe-stap kinds:"+name, "-ex", "run -n 1",
			"-ex", fmt.Sprintf(`printf "args %s\n", %s`, strings.Join(format, " "), strings.Join(args, ", ")), path)...)
		m := regexp.MustCompile(`(?m)^args (.*)$`).FindStringSubmatch(out)
		if m == nil {
			t.Errorf("gdb did not stop at kinds:%s:\n%s", name, out)
			continue
		}
		checkOperands(t, "gdb", name, 0, strings.Fields(m[1]))
	}
}

// perf runs perf with a build-id cache of the test's own.
func perf(t *testing.T, cache string, args ...string) string {
	t.Helper()
	return run(t, "perf", append([]string{"--buildid-dir", cache}, args...)...)
}

func checkPerf(t *testing.T, path string, sites map[string]sdt.Site) {
	peer.KernelEvents(t)
	cache := t.TempDir()
	perf(t, cache, "buildid-cache", "--add", path)
	list := strings.Fields(perf(t, cache, "list", "sdt"))
	var events []string
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		event := "sdt_kinds:" + name
		if !slices.Contains(list, event) {
			t.Errorf("perf list does not show %s: %q", event, list)
		}
		events = append(events, event)
	}
	t.Cleanup(func() { perf(t, cache, "probe", "-q", "-d", "sdt_kinds:*") })
	for _, e := range events {
		perf(t, cache, "probe", "-q", e)
	}
	defined, err := os.ReadFile("/sys/kernel/tracing/uprobe_events")
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range sites {
		if want := fmt.Sprintf("p:sdt_kinds/%s %s:0x%016x(0x%x)", name, path, s.Offset, s.CounterOffset); !strings.Contains(string(defined), want) {
			t.Errorf("perf did not define %q but\n%s", want, defined)
		}
	}
	data := cache + "/perf.data"
	perf(t, cache, "record", "-q", "-o", data, "-e", strings.Join(events, ","), path, "-n", fmt.Sprint(passes))
	script := perf(t, cache, "script", "-i", data)
	hits := make(map[string]int)
	arg := regexp.MustCompile(`arg\d+=(\S+)`)
	for _, m := range regexp.MustCompile(`sdt_kinds:(\w+):\s*\(\w+\)(.*)`).FindAllStringSubmatch(script, -1) {
		var got []string
		for _, a := range arg.FindAllStringSubmatch(m[2], -1) {
			got = append(got, a[1])
		}
		checkOperands(t, "perf", m[1], hits[m[1]], got)
		hits[m[1]]++
	}
	for name := range kinds {
		if hits[name] != passes {
			t.Errorf("perf recorded %d hits of %s, want %d:\n%s", hits[name], name, passes, script)
		}
	}
	stat := perf(t, cache, "stat", "-x,", "-o", "/dev/stdout", "-e", strings.Join(events, ","), path, "-n", fmt.Sprint(passes))
	for _, e := range events {
		if !strings.Contains(stat, fmt.Sprintf("%d,,%s,", passes, e)) {
			t.Errorf("perf stat does not count %d of %s:\n%s", passes, e, stat)
		}
	}
}

func checkBpftrace(t *testing.T, path string) {
	list := strings.Fields(run(t, "bpftrace", "-l", "usdt:"+path+":*"))
	for name := range kinds {
		if !slices.Contains(list, "usdt:"+path+":kinds:"+name) {
			t.Errorf("bpftrace -l does not show %s: %q", name, list)
		}
	}
	// Version 0.17 knows arg0 … arg5 only.
	program := fmt.Sprintf(`
usdt:%[1]s:kinds:texts { @[str(arg0, arg1)] = count() }
usdt:%[1]s:kinds:signed { printf("signed %%d %%d %%d %%d %%d\n", arg0, (int8)arg1, (int16)arg2, (int32)arg3, arg4) }
usdt:%[1]s:kinds:unsigned { printf("unsigned %%lu %%lu %%lu %%lu %%lu\n", arg0, arg1, arg2, arg3, arg4) }
usdt:%[1]s:kinds:floats { printf("floats %%lu %%lu %%lu\n", arg0, arg1, arg2) }
usdt:%[1]s:kinds:none { @none = count() }`, path)
	out := run(t, "bpftrace", "-e", program, "-c", fmt.Sprintf("%s -n %d", path, passes))
	hits := make(map[string]int)
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) > 1 && kinds[words[0]] != nil {
			checkOperands(t, "bpftrace", words[0], hits[words[0]], words[1:])
			hits[words[0]]++
		}
	}
	for _, name := range []string{"signed", "unsigned", "floats"} {
		if hits[name] != passes {
			t.Errorf("bpftrace saw %d hits of %s, want %d", hits[name], name, passes)
		}
	}
	words := strings.Join(strings.Fields(out), " ") + " "
	for _, want := range []string{fmt.Sprintf("@[a text]: %d ", passes), fmt.Sprintf("@none: %d ", passes)} {
		if !strings.Contains(words, want) {
			t.Errorf("bpftrace did not print %q:\n%s", want, out)
		}
	}
}
