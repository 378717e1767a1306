package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// company is waymark, perf and bpftrace on the same markers of one file at the same time, so
// that what they say is about the same hits.
type company struct {
	t       *testing.T
	markers []string
	counter *watcher // waymark stat
	tracer  *watcher // waymark trace
	perf    *perfRecord
	bpf     *bpftrace
}

// tool names what the columns of docs/tracers.md are about.
const (
	stat, trace, perfs, bpfs = "waymark stat", "waymark trace", "perf", "bpftrace"
)

// hit is one event of waymark's or perf's: its arguments in order, strings without quotes.
type hit struct {
	marker string
	args   []string
}

// gather attaches all of them to a file's markers, of one provider: in process pid, or for 0
// in all that map the file. bpftrace also prints what shown has for a marker: what is to
// stand behind printf's format and arguments.
func gather(t *testing.T, path string, pid int, shown map[string]string, markers ...string) *company {
	t.Helper()
	c := &company{t: t, markers: markers}
	where := []string{path}
	if pid != 0 {
		where = []string{"-p", fmt.Sprint(pid)}
	}
	c.counter = watchBy(t, "stat", append(where, markers...)...)
	c.tracer = watchBy(t, "trace", append([]string{"--max-string=4096"}, append(where, markers...)...)...)
	c.perf = recordPerf(t, path, pid, markers)

	var script strings.Builder
	for _, m := range markers {
		fmt.Fprintf(&script, "usdt:%q:%s { @n[%q] = count(); ", path, m, m)
		if show, ok := shown[m]; ok {
			format, args, _ := strings.Cut(show, ", ")
			fmt.Fprintf(&script, `printf("hit %s %s\n", %s); `, m, strings.Trim(format, `"`), args)
		}
		script.WriteString("}\n")
	}
	c.bpf = runBpftrace(t, pid, script.String())
	eventually(t, "bpftrace is attached", func() bool { return strings.Contains(c.bpf.out.String(), "alive") })
	if t.Failed() {
		t.Fatalf("bpftrace says %s", c.bpf.out.String())
	}
	return c
}

// stop detaches all, and returns what each counted and, of those that pass them on, the arguments.
func (c *company) stop() (counts map[string]map[string]uint64, hits map[string][]hit) {
	c.t.Helper()
	counts = map[string]map[string]uint64{stat: c.counter.stop(), trace: {}, perfs: {}, bpfs: {}}
	hits = map[string][]hit{trace: c.traced(), perfs: c.perf.stop(c.t)}
	c.bpf.stop(c.t)
	for _, tool := range []string{trace, perfs} {
		for _, h := range hits[tool] {
			counts[tool][h.marker]++
		}
	}
	out := c.bpf.out.String()
	for _, m := range regexp.MustCompile(`(?m)^\s*@n\[(\S+)\]:\s*(\d+)\s*$`).FindAllStringSubmatch(out, -1) {
		counts[bpfs][m[1]], _ = strconv.ParseUint(m[2], 10, 64)
	}
	for _, m := range regexp.MustCompile(`(?m)^hit (\S+) (.*)$`).FindAllStringSubmatch(out, -1) {
		hits[bpfs] = append(hits[bpfs], hit{m[1], []string{m[2]}})
	}
	return counts, hits
}

// traced returns what waymark trace printed, all of it.
func (c *company) traced() (hits []hit) {
	c.t.Helper()
	c.tracer.interrupt()
	for line := range bytes.Lines(c.tracer.stdout.Bytes()) {
		var ev struct {
			Marker  string
			Fields  json.RawMessage
			Summary *struct{ Lost uint64 }
		}
		if err := json.Unmarshal(line, &ev); err != nil {
			c.t.Fatalf("line %q: %v", line, err)
		}
		if ev.Summary != nil {
			if ev.Summary.Lost != 0 {
				c.t.Errorf("waymark trace lost %d events", ev.Summary.Lost)
			}
			continue
		}
		hits = append(hits, hit{ev.Marker, values(c.t, ev.Fields)})
	}
	return hits
}

// values returns the values of an object in its order, whatever their names.
func values(t *testing.T, object []byte) (args []string) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	for n := 0; ; n++ {
		token, err := d.Token()
		if err == io.EOF {
			return args
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, brace := token.(json.Delim); !brace && n%2 == 0 { // after the brace: a name, a value, …
			args = append(args, fmt.Sprint(token))
		}
	}
}
