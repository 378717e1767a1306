package e2e

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/recording"
	"github.com/waymark-trace/waymark/tracer/script"
)

// scriptOracles are scripts that bpftrace 0.17 runs on the marker of testdata/ticks, whose main goroutine has all hits. PROGRAM stands for its file. Their entries have different values, because 0.17 prints those with equal ones in any order.
var scriptOracles = map[string]string{
	"count":      `usdt:PROGRAM:ticks:tick { @ = count(); @keys[arg0 % 3 == 0] = count(); }`,
	"sums":       `usdt:PROGRAM:ticks:tick { @s = sum((int64)arg1); @[str(arg2)] = sum(arg0); @max = max((int64)arg1); @min = min(arg0); }`,
	"averages":   `usdt:PROGRAM:ticks:tick { @a = avg(arg1); @st = stats(arg0); @k[str(arg2)] = avg(arg0); @ks[str(arg2)] = stats(arg0); }`,
	"hist":       `usdt:PROGRAM:ticks:tick { @ = hist(arg0); @big = hist(arg1); }`,
	"hist keys":  `usdt:PROGRAM:ticks:tick /arg0 > 10/ { @[str(arg2)] = hist(arg0); }`,
	"lhist":      `usdt:PROGRAM:ticks:tick { @ = lhist(arg0, 0, 100, 10); @odd = lhist(arg0, 5, 77, 7); @k = lhist(arg1, 0, 1048576, 65536); }`,
	"lhist keys": `usdt:PROGRAM:ticks:tick /arg0 > 10/ { @[str(arg2)] = lhist(arg0, 0, 128, 16); }`,
	"printf":     `usdt:PROGRAM:ticks:tick /arg0 < 5/ { printf("%d %ld %s|%5d|%-5d|%05d|%x|%X|%o|%c|%p|%10s|%-10s|%.2s|%%\n", arg0, arg1, str(arg2), arg0, arg0, arg0, arg1, arg1, arg0, 65 + arg0, arg1 + 1, str(arg2), str(arg2), str(arg2)); }`,
	"widths":     `usdt:PROGRAM:ticks:tick /arg0 < 3/ { printf("%hhd %hd %d %ld %lld %u %lu %hhx %llx\n", arg1, arg1, arg1, arg1, arg1, arg1, arg1, arg1, arg1); }`,
	"casts":      `usdt:PROGRAM:ticks:tick /arg0 < 3/ { printf("%d %d %d %u %ld\n", (int8)arg1, (uint8)arg1, (int16)arg1, (uint32)arg1, (int64)(int32)arg1); }`,
	"arithmetic": `usdt:PROGRAM:ticks:tick /arg0 > 0 && arg0 < 6/ { $x = arg0 * 7 + 3; printf("%ld %ld %ld %ld %ld %ld %ld\n", $x, $x - 100, $x & 12, $x | 1, $x ^ 5, $x << 3, $x >> 1); printf("%lu %lu\n", (uint64)$x / (uint64)3, (uint64)$x % (uint64)3); }`,
	"state":      `usdt:PROGRAM:ticks:tick { @last[str(arg2)] = arg0; $d = arg0 - @prev; @prev = arg0; @gap = max($d); }`,
	"increments": `usdt:PROGRAM:ticks:tick { @n++; @k[arg0 % 4] += arg0; @m["x", 1]++; $i = @n++; @odd = $i; --@down; }`,
	"tuples":     `usdt:PROGRAM:ticks:tick /arg0 < 3/ { $t = (arg0, str(arg2), (1, 2)); print($t); printf("%d %s\n", $t.0, $t.1); @[arg0, str(arg2)] = (int64)arg1; @t = $t; }`,
	"texts":      `usdt:PROGRAM:ticks:tick { if (str(arg2) == "even") { @even = count(); } else { @odd = count(); } if (strncmp(str(arg2), "eve", 3) == 0) { @prefix++; } @short[str(arg2, 3)] = sum(arg0); @short["more"] = sum(arg0 * 2); }`,
	"delete":     `usdt:PROGRAM:ticks:tick { @[arg0] = arg0; if (arg0 > 5) { delete(@[arg0 - 3]); } } END { print(@, 3); clear(@); }`,
	"top":        `usdt:PROGRAM:ticks:tick { @[arg0 % 7] += arg0; } END { print(@, 3); print(@, 0, 10); print(@, 2, 3); clear(@); }`,
	"zero":       `usdt:PROGRAM:ticks:tick { @[1] = count(); } END { zero(@); }`,
	"loops":      `usdt:PROGRAM:ticks:tick /arg0 == 9/ { $i = 0; while ($i < 10) { $i++; if ($i == 3) { continue; } if ($i == 6) { break; } printf("%d ", $i); } unroll(3) { printf("u"); } printf("\n"); }`,
	"branches":   `usdt:PROGRAM:ticks:tick { if (arg0 < 10) { @low++; } else { if (arg0 < 20) { @middle++; } else { @high++; } } @pick[arg0 > 50 ? "big" : "small"] += arg0; }`,
	"exit":       `usdt:PROGRAM:ticks:tick { @ = count(); if (arg0 == 7) { printf("seven\n"); @seen = arg0; } } END { printf("end\n"); }`,
	"buffers":    `usdt:PROGRAM:ticks:tick /arg0 < 2/ { printf("%r\n", buf(str(arg2), 3)); }`,
	"logic":      `usdt:PROGRAM:ticks:tick { if (arg0 > 3 && arg0 < 7 || arg0 == 90) { @a[arg0] = arg0; } if (!(arg0 > 1)) { @b++; } }`,
	"probe":      `usdt:PROGRAM:ticks:tick /arg0 < 1/ { printf("%s\n", probe); @[probe] = count(); }`,
}

// TestScriptOracle compares recorded scripts with bpftrace, byte by byte: bpftrace runs a script on the live program, and waymark on a
// recording of the same run of it.
func TestScriptOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for seconds")
	}
	peer.Root(t)
	peer.Need(t, "bpftrace")
	program, trace := recordTicks(t)
	for name, text := range scriptOracles {
		text = strings.ReplaceAll(text, "PROGRAM", program)
		t.Run(name, func(t *testing.T) {
			older := text
			for _, d := range scriptDifferences {
				older = strings.ReplaceAll(older, d.text, d.by)
			}
			want := normalized(underBpftrace(t, older, program))
			got := normalized(underWaymark(t, text, trace))
			if got != want {
				t.Errorf("%s\ngives\n%s\nbpftrace has\n%s", text, got, want)
			}
		})
	}
}

// recordTicks builds testdata/ticks and records a run of it.
func recordTicks(t *testing.T) (program, trace string) {
	t.Helper()
	dir := t.TempDir()
	program, trace = filepath.Join(dir, "ticks"), filepath.Join(dir, "trace")
	run(t, waymark(t), "build", "-o", program, "./testdata/ticks")
	run(t, waymark(t), "record", "-o", trace, "ticks:tick", "--", program)
	return program, trace
}

func underBpftrace(t *testing.T, text, program string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var stderr bytes.Buffer
	c := exec.CommandContext(ctx, "bpftrace", "-q", "-e", text, "-c", program)
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("bpftrace: %v\n%s", err, stderr.Bytes())
	}
	return string(out)
}

func underWaymark(t *testing.T, text, trace string) string {
	t.Helper()
	s, err := script.Parse("script", text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := recording.Open(trace)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := s.Check(&script.Target{Points: r.Points(), Has: r.Has})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := p.Run(t.Context(), r, &script.Options{Out: &out}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Differences between bpftrace 0.17 and the manual that the language follows, which the comparison leaves out. A reason in quotes is the
// entry of bpftrace's changelog.
var (
	oracleDifferences = []struct {
		found *regexp.Regexp
		by    string
		why   string
	}{
		{regexp.MustCompile(`(?m)^Attaching \d+ probes?\.\.\.\n`), "", `"Text mode now emits all non-script generated output (e.g., errors, attached notifications) to stderr instead of stdout"`},
		{regexp.MustCompile(`(?m)^(@[^\n]*:) $`), "$1", "the manual has no blank after the name of a histogram"},
		{regexp.MustCompile(`\n\n+`), "\n", "the manual has no empty lines before maps, and none after maps of avg and stats"},
		{regexp.MustCompile(`^\n+`), "", "the same at the beginning"},
		{regexp.MustCompile(`%%`), "%", "0.17 prints both percent signs of a format's %%"},
		{regexp.MustCompile(`\[true\]`), "[1]", `"Add boolean values (true and false)": comparisons are true and false`},
		{regexp.MustCompile(`\[false\]`), "[0]", "the same"},
		{regexp.MustCompile(`\[77, \.\.\.\)`), "[75, ...)", "0.17 shows the end of the range where the last bucket of lhist begins before it"},
	}
	scriptDifferences = []struct{ text, by, why string }{
		{"str(arg2, 3)", "str(arg2, 2)", `"Fix str() bug where optional size parameter did not count towards NUL terminator"`},
	}
)

func normalized(out string) string {
	for _, d := range oracleDifferences {
		out = d.found.ReplaceAllString(out, d.by)
	}
	return strings.TrimRight(out, "\n") + "\n"
}
