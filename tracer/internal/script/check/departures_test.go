package check

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/syntax"
)

var update = flag.Bool("update", false, "write the tables of docs/from-bpftrace.md")

// TestDepartures compares the tables of refused names in docs/from-bpftrace.md with those of the checker.
func TestDepartures(t *testing.T) {
	const path = "../../../../docs/from-bpftrace.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(string(text), "### Probes\n")
	if !ok {
		t.Fatal("the page has no table of probes")
	}
	want := before + table("Probes", RefusedProbes) + "\n" + table("Built-in values", RefusedWords) + "\n" + table("Functions", RefusedCalls)
	if string(text) == want {
		return
	}
	if !*update {
		t.Fatal("docs/from-bpftrace.md differs from the tables of package check: go test ./tracer/internal/script/check -run Departures -update")
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// table has a line for each hint, with all names that it is for.
func table(title string, refused map[string]string) string {
	names := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		names[refused[name]] = append(names[refused[name]], "`"+name+"`")
	}
	var lines []string
	for hint, list := range names {
		lines = append(lines, fmt.Sprintf("| %s | %s |\n", strings.Join(list, ", "), hint))
	}
	slices.Sort(lines)
	return "### " + title + "\n\n| name | write instead |\n|---|---|\n" + strings.Join(lines, "")
}

// Every setting of the config block stands in the page.
func TestSettingsAreDocumented(t *testing.T) {
	for _, page := range []string{"from-bpftrace.md", "script.md"} {
		text, err := os.ReadFile("../../../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		for name := range settings {
			if !strings.Contains(string(text), name) {
				t.Errorf("docs/%s does not have the setting %s", page, name)
			}
		}
	}
}

// Every name of the language stands in its reference.
func TestReferenceIsComplete(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/script.md")
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Concat(slices.Collect(maps.Keys(builtins)), slices.Collect(maps.Keys(functions)), slices.Collect(maps.Keys(actions)))
	for _, name := range names {
		if !strings.Contains(string(text), "`"+name+"`") && !strings.Contains(string(text), "`"+name+"(") {
			t.Errorf("docs/script.md does not have %s", name)
		}
	}
}

// manual are the functions, built-in values and probes of bpftrace's manual, docs/stdlib.md and docs/language.md at commit e1b7c39.
const manual = `assert assert_str bswap buf cat cgroup cgroup_path cgroupid clear comm config container_of cpid cpu curtask default_str_length
	delete dw_ustack elapsed errorf exit fail find func getopt gid has_cpid has_key is_array is_err is_integer is_literal is_ptr is_str
	is_unsigned_integer jiffies join kaddr kfunc_allowed kfunc_exist kptr kstack ksym leader_comm leader_tid len macaddr memcmp ncpus nsecs ntop
	numaid offsetof override path pcomm percpu_kaddr pid ppid print printf probe probetype pton rand reg retval signal signal_name signal_thread
	sizeof skboutput socket_cookie static_assert str str_concat strcap strcontains strerror strftime strlen strncmp strstr syscall_name system
	tid time typeof uaddr uid unwatch uptr usermode username ustack usym warnf write_user zero avg count hist lhist max min stats sum tseries`

const manualProbes = `begin end BEGIN END test bench self hardware h interval i iter it fentry f fexit fr kprobe k kretprobe kr profile p rawtracepoint rt
	software s tracepoint t uprobe u uretprobe ur usdt U watchpoint w`

// TestManualIsCovered fails for a name of the manual that is neither accepted nor refused by its name.
func TestManualIsCovered(t *testing.T) {
	for _, name := range strings.Fields(manual) {
		_, word := RefusedWords[name]
		_, call := RefusedCalls[name]
		_, value := builtins[name]
		_, function := functions[name]
		_, action := actions[name]
		_, aggregate := ir.Aggregates[name]
		if !(word || call || value || function || action || aggregate) {
			t.Errorf("%s is neither accepted nor refused", name)
		}
		if call && (function || action || aggregate) {
			t.Errorf("%s is both accepted and refused", name)
		}
	}
	for _, name := range strings.Fields(manualProbes) {
		s, err := syntax.Parse("s", name+":x:y { }")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := Check(s, &Target{Open: true}); err != nil && strings.Contains(err.Error(), "unknown probe") {
			t.Errorf("%v", err)
		}
	}
}
