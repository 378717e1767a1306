package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/ctf"
)

// foreignTrace writes a trace as another tracer would: a clock of 3 ticks a second, contexts of its own, an enumeration
// and, if threads is set, thread ids.
func foreignTrace(t *testing.T, threads bool) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "trace")
	w, err := ctf.Create(dir, &ctf.Options{Clock: ctf.Clock{Freq: 3, Offset: 2, OffsetSeconds: 1000}})
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	number := &ctf.Integer{Size: 32}
	context := []ctf.Field{{Name: "vtid", Type: number}, {Name: "perf_cycles", Type: &ctf.Integer{Size: 64}}}
	if !threads {
		context = context[1:]
	}
	class, err := w.StreamClass(&ctf.Struct{Fields: context}, &ctf.Struct{Fields: []ctf.Field{{Name: "shard", Type: number}}})
	check(err)
	color := &ctf.Enum{Integer: *number, Labels: []ctf.Label{{Name: "RED", Low: 1, High: 1}, {Name: "WARM", Low: 0, High: 5}}}
	payload := &ctf.Struct{Fields: []ctf.Field{
		{Name: "color", Type: color}, {Name: "both", Type: &ctf.Struct{Fields: []ctf.Field{{Name: "n", Type: number}}}},
	}}
	begin, err := w.EventClass(class, "app:begin", payload)
	check(err)
	end, err := w.EventClass(class, "app:end", payload)
	check(err)
	s, err := w.Stream(class, "channel", 0)
	check(err)
	check(s.SetContext([]ctf.Value{{Bits: 9}}))
	for i, kind := range []*ctf.EventClass{begin, begin, end, end} {
		values := []ctf.Value{{Bits: uint64(50 + i%2)}, {Bits: uint64(100 * i)}}
		if !threads {
			values = values[1:]
		}
		check(s.Write(kind, uint64(i), values, []ctf.Value{{Bits: []uint64{1, 3, 7, 1}[i]}, {Elems: []ctf.Value{{Bits: 4}}}}))
	}
	check(w.Close())
	return dir
}

// reported runs waymark report and returns its output, messages and exit status.
func reported(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, messages bytes.Buffer
	status = Main(t.Context(), append([]string{"report"}, args...), &Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &messages})
	return out.String(), messages.String(), status
}

// Conditions see labels and numbers of enumerations, and the contexts of other tracers.
func TestReportWhere(t *testing.T) {
	dir := foreignTrace(t, true)
	for condition, want := range map[string]int{
		`color == "RED"`: 2, `"RED" == color`: 2, `color == "WARM"`: 1, `color != "RED"`: 2, `color ~ "?ED"`: 2,
		`color == 3`: 1, `color > 1`: 2, `color == 7`: 1, `color == ""`: 1,
		`perf_cycles >= 200`: 2, `shard == 9`: 4, `shard == 8`: 0, `tid == 51`: 2, `arg1 == 1`: 2,
	} {
		stdout, stderr, status := reported(t, dir, "--where", condition)
		if n := strings.Count(stdout, "\n"); n != want || status != 0 {
			t.Errorf("%s: %d events, status %d, want %d\n%s%s", condition, n, status, want, stdout, stderr)
		}
	}
	for condition, want := range map[string]string{
		`both == 4`:                    "both is neither a number nor a text",
		`color == "RED" && color == 1`: "a text is compared with one in quotes",
		`nosuch == 1`:                  "no marker of the trace has a field nosuch",
	} {
		if stdout, stderr, status := reported(t, dir, "--where", condition); !strings.Contains(stderr, want) || status != 1 || stdout != "" {
			t.Errorf("%s: status %d, %s%s", condition, status, stdout, stderr)
		}
	}
}

// Reports show contexts, labels, and times of the clock in nanoseconds.
func TestReportForeign(t *testing.T) {
	stdout, _, _ := reported(t, foreignTrace(t, true), "--json")
	lines := strings.Split(stdout, "\n")
	// 1000 s, 2/3 s of offset and 2 ticks of 1/3 s.
	const want = `{"time":"1970-01-01T00:16:41.333333333Z","monotonic_ns":666666666,"pid":0,"tid":50,"cpu":0,"comm":"","marker":"app:end",` +
		`"fields":{"color":7,"both":{"n":4},"perf_cycles":200,"shard":9}}`
	if len(lines) < 4 || lines[2] != want || !strings.Contains(lines[0], `"color":"RED"`) {
		t.Errorf("%s\nwant %s", stdout, want)
	}
	if !strings.Contains(lines[1], `"time":"1970-01-01T00:16:41.000000000Z","monotonic_ns":333333333,`) {
		t.Errorf("%s", lines[1])
	}
}

// Events without thread ids would all be joined as those of one thread.
func TestReportLatencyNeedsThreads(t *testing.T) {
	pair := []string{"--latency", "app:begin", "app:end"}
	if stdout, stderr, status := reported(t, append([]string{foreignTrace(t, true)}, pair...)...); status != 0 {
		t.Errorf("with thread ids: status %d\n%s%s", status, stdout, stderr)
	}
	dir := foreignTrace(t, false)
	for _, key := range []string{"", "--key=tid", "--key=goroutine", "--key=pid", "--key=color=tid", "--by=color"} {
		args := append([]string{dir}, pair...)
		if key != "" {
			args = append(args, key)
		}
		if stdout, stderr, status := reported(t, args...); status != 1 || stdout != "" || !strings.Contains(stderr, "--key FIELD") {
			t.Errorf("%s: status %d\n%s%s", key, status, stdout, stderr)
		}
	}
	if stdout, stderr, status := reported(t, append([]string{dir, "--key=color"}, pair...)...); status != 0 || stdout == "" {
		t.Errorf("by a field: status %d\n%s%s", status, stdout, stderr)
	}
	for _, by := range []string{"tid", "comm", "nosuch"} {
		if stdout, stderr, status := reported(t, append([]string{dir, "--key=color", "--by", by}, pair...)...); status != 1 || stdout != "" || !strings.Contains(stderr, "--by "+by) {
			t.Errorf("grouped by %s: status %d\n%s%s", by, status, stdout, stderr)
		}
	}
}
