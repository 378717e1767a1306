package e2e

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/internal/test/talk"
)

// One run of a C program, seen by waymark latency and by bpftrace's histogram of the same
// pairs: as many pairs, and no cumulative count apart by more than one power of two, since
// each tracer's own time may carry a pair over a boundary for the other.
func TestLatencyAgrees(t *testing.T) {
	peer.Root(t)
	peer.Header(t, "sys/sdt.h")
	peer.Need(t, "bpftrace", "gcc")
	const threads, rounds = 4, 500
	path := filepath.Join(t.TempDir(), "pairs")
	run(t, "gcc", "-O2", "-pthread", "-o", path, "../testdata/pairs.c")

	p := talk.Start(t, exec.Command(path, fmt.Sprint(threads), fmt.Sprint(rounds)))
	p.Expect("ready")
	pid := p.PID()
	b := runBpftrace(t, pid, fmt.Sprintf(`usdt:%s:pairs:begin { @s[tid] = nsecs }
		usdt:%s:pairs:end /@s[tid]/ { @ns = hist(nsecs - @s[tid]); delete(@s[tid]) }`, path, path))
	eventually(t, "bpftrace is attached", func() bool { return strings.Contains(b.out.String(), "alive") })
	w := watchBy(t, "latency", "-i", "1h", "-p", fmt.Sprint(pid), "pairs:begin", "pairs:end")
	p.Tell("")
	for p.Line() != "done" {
	}
	w.done = true
	w.cmd.Process.Signal(os.Interrupt)
	if err := w.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	b.stop(t)

	var object struct {
		Pairs   uint64
		Buckets [][3]uint64
	}
	if err := json.Unmarshal(w.stdout.Bytes(), &object); err != nil {
		t.Fatalf("%v: %s", err, &w.stdout)
	}
	if object.Pairs != threads*rounds {
		t.Errorf("waymark counted %d pairs of %d", object.Pairs, threads*rounds)
	}
	var ours, theirs [64]uint64
	for _, bucket := range object.Buckets {
		ours[bits.Len64(bucket[0])] += bucket[2]
	}
	for _, m := range regexp.MustCompile(`(?m)^\[(\d+)([KMG]?)[,\]].*?(\d+)\s*\|`).FindAllStringSubmatch(b.out.String(), -1) {
		low, _ := strconv.ParseUint(m[1], 10, 64)
		n, _ := strconv.ParseUint(m[3], 10, 64)
		unit := map[string]int{"K": 10, "M": 20, "G": 30}[m[2]]
		theirs[bits.Len64(low<<unit)] += n
	}
	for i := 1; i < len(ours); i++ { // below 1<<i
		ours[i] += ours[i-1]
		theirs[i] += theirs[i-1]
	}
	if theirs[63] != threads*rounds {
		t.Errorf("bpftrace counted %d pairs of %d:\n%s", theirs[63], threads*rounds, b.out.String())
	}
	for i := 1; i < 63; i++ {
		if ours[i] < theirs[i-1] || ours[i] > theirs[i+1] {
			t.Errorf("shorter than %d ns: %d pairs, bpftrace has from %d to %d one bucket aside", uint64(1)<<i, ours[i], theirs[i-1], theirs[i+1])
		}
	}
}
