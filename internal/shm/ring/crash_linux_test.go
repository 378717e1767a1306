package ring_test

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/internal/test/talk"
)

// A crashed target is testdata/crash, which marks at full rate on some goroutines. Before and behind each
// mark it notes the event's number in a page of its own, so that it is known from elsewhere what must be
// there and what may be.

// progress is what one goroutine of the target noted.
type progress struct{ begun, done uint64 }

func readProgress(t *testing.T, path string) (all []progress) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for ; len(text) >= 64; text = text[64:] {
		all = append(all, progress{binary.NativeEndian.Uint64(text), binary.NativeEndian.Uint64(text[8:])})
	}
	return all
}

const crashWriters = 3

// TestCrash ends the target at random moments. WAYMARK_CRASHES says how often, for a long run by hand.
func TestCrash(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("a C compiler is there for x86-64")
	}
	peer.Need(t, "gcc")
	crashes := 40
	if testing.Short() {
		crashes = 9
	}
	if n, err := strconv.Atoi(os.Getenv("WAYMARK_CRASHES")); err == nil {
		crashes = n
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "crash")
	build := exec.Command("go", "build", "-o", path, "./testdata/crash")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	midEvent, byKind := 0, map[string]int{}
	// A panic and a fault in C stop the other threads before they end them, and none is stopped in the
	// middle of an event. SIGKILL asks nobody.
	ends := []string{"kill", "panic", "kill", "kill", "segv", "kill"}
	// How often one hits the middle of an event is chance, and another on every machine: until it was often enough.
	want := crashes / 4 // 50 of 200
	total, random := 0, peer.Random(t)
	for i := 0; i < crashes || midEvent < want && i < 10*crashes; i++ {
		total++
		end, mode := ends[i%len(ends)], ring.Mode(i/len(ends)%2)
		n := crash(t, random, path, end, mode)
		byKind[end+", "+mode.String()] += n
		midEvent += n
	}
	t.Logf("%d crashes, %d hit a writer in the middle of an event: %v", total, midEvent, byKind)
	if midEvent < want {
		t.Errorf("%d of %d crashes hit a writer in the middle of an event: that proves little, want %d", midEvent, total, want)
	}
}

// crash runs the target once and reports with 1 whether a writer was hit in the middle of an event.
func crash(t *testing.T, random *rand.Rand, path, end string, mode ring.Mode) (midEvent int) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(path, dir, end, strconv.Itoa(int(mode)), strconv.Itoa(crashWriters))
	cmd.Env = append(os.Environ(), "GOTRACEBACK=none", "GOMAXPROCS=2")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	target := talk.Start(t, cmd)
	if _, err := target.Next(); err != nil {
		t.Fatalf("the target did not begin: %v\n%s", err, &stderr)
	}
	time.Sleep(time.Duration(random.Int64N(int64(20 * time.Millisecond))))
	if end == "kill" {
		cmd.Process.Kill()
	} else {
		target.CloseInput() // it does it itself
	}
	err := cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || err == nil || end == "kill" && status.Signal() != unix.SIGKILL {
		t.Fatalf("%s: the target ended by %v\n%s", end, err, &stderr)
	}

	f, err := os.Open(filepath.Join(dir, "crash.ring"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ring.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if ended, err := r.Ended(); ended || err != nil {
		t.Fatalf("a program that died says that its recording ended: %t, %v", ended, err)
	}
	noted := readProgress(t, filepath.Join(dir, "progress"))
	var seen [crashWriters]map[uint64]bool
	for w := range seen {
		seen[w] = map[uint64]bool{}
	}
	var total, missed, full uint64
	for i := range r.Rings() {
		next := uint64(0)
		for {
			rec, err := r.Next(i)
			if err != nil {
				t.Fatalf("%s: %v", end, err)
			}
			if rec == nil {
				break
			}
			v, err := rec.Values(nil)
			if err != nil {
				t.Fatal(err)
			}
			w, seq, text := v[0].Bits(), v[1].Bits(), v[2].Bytes()
			if rec.Number < next || w >= crashWriters || seen[w][seq] || !isText(text, seq) {
				t.Fatalf("%s: ring %d: number %d (%d was next): event %d of writer %d, seen before: %t; %d bytes",
					end, i, rec.Number, next, seq, w, seen[w][seq], len(text))
			}
			next = rec.Number + 1
			seen[w][seq] = true
		}
		n, err := r.Counts(i)
		if err != nil {
			t.Fatal(err)
		}
		total += n.Read
		missed += n.Missed
		full += n.Full
		midEvent += hit(r, i, noted, seen[:])
	}
	// What was complete is there, or was read by the target's own consumer, or is counted, and there is nothing that
	// was not begun.
	var begun, done uint64
	for w, p := range noted {
		begun += p.begun
		done += p.done
		for seq := range seen[w] {
			if seq > p.begun {
				t.Errorf("%s: event %d of writer %d was read, %d was the last to begin", end, seq, w, p.begun)
			}
		}
	}
	if sum := total + missed + full; sum < done || sum > begun {
		t.Errorf("%s, %s: %d read + %d missed + %d full = %d, %d were complete and %d begun", end, mode, total, missed, full, sum, done, begun)
	}
	return min(midEvent, 1)
}

// hit reports with 1 whether the event behind what is published had begun to be written: its arguments
// are there, of an event that the target had begun and not finished.
func hit(r *ring.Reader, i int, noted []progress, seen []map[uint64]bool) int {
	b, _ := r.Beyond(i, 256)
	// The record may come behind a context, or the header of a sub-buffer behind padding.
	for _, skip := range []int{ring.RecordHeader, ring.RecordHeader + 24, ring.RecordHeader + 40, ring.RecordHeader + 48} {
		if len(b) < skip+16 {
			continue
		}
		w, seq := binary.NativeEndian.Uint64(b[skip:]), binary.NativeEndian.Uint64(b[skip+8:])
		if w < crashWriters && seq != 0 && seq == noted[w].begun && noted[w].done < seq && !seen[w][seq] {
			return 1
		}
	}
	return 0
}

// isText reports whether a text is that of an event of this number: testdata/crash makes it.
func isText(text []byte, seq uint64) bool {
	if len(text) != int(seq%16000) {
		return false
	}
	for _, c := range text {
		if c != byte('a'+seq%26) {
			return false
		}
	}
	return true
}
