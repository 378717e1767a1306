package recording_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/internal/shm/recorder"
	"github.com/waymark-trace/waymark/marker"
)

// Events come out alike whatever their headers: of more kinds than compact ones can number, after
// pauses longer than these hold, and of goroutines with more than 32 bits.
func TestHeaders(t *testing.T) {
	const kinds, events, mib = 1100, 3300, 1 << 20
	dir := t.TempDir()
	markers := make([]marker.Marker1[int64], kinds) //waymark:ignore more than anybody declares, for the test
	for i := range markers {
		markers[i] = marker.New1[int64](fmt.Sprintf("headers:m%d", i), "n %d") //waymark:ignore as above
		p, err := markers[i].Register(func(int64) {})                          // makes it known
		if err != nil {
			t.Fatal(err)
		}
		defer p.Unregister()
	}
	s, err := recorder.Start(recorder.Options{Dir: dir, Name: "headers", Patterns: []string{"headers:*"}, Size: mib})
	if err != nil {
		t.Fatal(err)
	}
	for i := range events {
		if i%400 == 0 {
			time.Sleep(5 * time.Millisecond)
		}
		markers[i%kinds].Mark(1<<40 + int64(i))
	}
	s.Stop()
	before, err := convert(t, s.Path(), filepath.Join(dir, "before"), oneByOne)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	wide := 0
	for _, all := range before {
		for at := len(ring) - mib; at < len(ring); at += 8 { // the rings are last
			if word := ring[at : at+8]; binary.NativeEndian.Uint64(word) == uint64(all[0].Goroutine) && at%3 == 0 {
				binary.NativeEndian.PutUint64(word, 1<<40+7)
				wide++
			}
		}
	}
	path := filepath.Join(dir, "wide.ring")
	if err := os.WriteFile(path, ring, 0o600); err != nil || wide == 0 {
		t.Fatalf("%d goroutines of more than 32 bits: %v", wide, err)
	}
	packed, plain := filepath.Join(dir, "packed"), filepath.Join(dir, "plain")
	want, err := convert(t, path, plain, oneByOne)
	if err != nil {
		t.Fatal(err)
	}
	got, err := convert(t, path, packed, inRuns)
	if d := cmp.Diff(want, got, same); d != "" || err != nil {
		t.Fatalf("%v; (-one by one +in runs):\n%s", err, d)
	}
	samePrinted(t, packed, plain, events)

	out, err := exec.Command("babeltrace2", "--clock-cycles", "--no-delta", packed).Output()
	if err != nil {
		t.Fatal(err)
	}
	r := openTrace(t, packed)
	for line := range strings.Lines(string(out)) {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if time := fmt.Sprintf("[%020d]", e.Raw.Ticks); !strings.HasPrefix(line, time) {
			t.Fatalf("babeltrace2 prints %s, the time is %s", line, time)
		}
	}
}
