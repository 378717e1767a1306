package ctf_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// TestKilled kills a process that writes at full rate, at random moments: its files are a valid trace to
// babeltrace2 and to us, with the first events and no gap.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("WAYMARK_TEST_WRITE"); dir != "" {
		writeForever(t, dir)
	}
	if testing.Short() {
		t.Skip("starts processes")
	}
	peer.Need(t, "babeltrace2")
	rounds, torn := 10, 0
	random := peer.Random(t)
	for range rounds {
		dir := filepath.Join(t.TempDir(), "trace")
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), "WAYMARK_TEST_WRITE="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
			if info, err := os.Stat(filepath.Join(dir, "channel_0")); err == nil && info.Size() > 0 {
				break
			} else if time.Now().After(deadline) {
				t.Fatal("the process writes nothing")
			}
		}
		time.Sleep(time.Duration(random.IntN(60_000)) * time.Microsecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		trace, err := ctf.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		var next uint64
		events := readAll(t, ctf.NewReader(trace), func(_ int, e *ctf.Event) {
			if n := e.Payload.Elems[0].Bits; n != next {
				t.Fatalf("event %d after %d", n, next)
			}
			next++
		})
		if info, err := os.Stat(filepath.Join(dir, "channel_0")); err == nil && info.Size()%killedPacket != 0 {
			torn++
		}
		if lines := babeltrace2(t, dir, "--clock-cycles"); len(lines) != events {
			t.Fatalf("babeltrace2 prints %d events, and we read %d", len(lines), events)
		}
	}
	t.Logf("%d processes killed, %d of them while the file grew", rounds, torn)
}

// killedPacket is large, for a kill to come while one is written.
const killedPacket = 4 << 20

func writeForever(t *testing.T, dir string) {
	_, s, tick := oneMarker(t, dir, &ctf.Options{PacketSize: killedPacket})
	for i := uint64(0); i < 50_000_000; i++ {
		if err := s.Write(tick, i, nil, []ctf.Value{{Bits: i}}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDiskFull writes until the disk is full: an error, and all events that were reported as written are
// there.
func TestDiskFull(t *testing.T) {
	peer.Root(t)
	peer.Need(t, "babeltrace2")
	for _, size := range []int{40 << 10, 300 << 10, 301 << 10, 1 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			disk := t.TempDir()
			if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = syscall.Unmount(disk, 0) })
			w, s, tick := oneMarker(t, filepath.Join(disk, "trace"), &ctf.Options{PacketSize: 64 << 10})
			var err error
			accepted := uint64(0)
			for err == nil {
				if err = s.Write(tick, accepted, nil, []ctf.Value{{Bits: accepted}}); err == nil {
					accepted++
				}
			}
			if !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, ctf.ErrStopped) {
				t.Errorf("the error is %v", err)
			}
			if err := w.Close(); !errors.Is(err, ctf.ErrStopped) {
				t.Errorf("Close says %v", err)
			}
			events, bytes := s.Written()
			if events+s.Pending() != accepted {
				t.Errorf("%d events written and %d pending, of %d", events, s.Pending(), accepted)
			}
			trace, err := ctf.Open(w.Dir())
			if err != nil {
				t.Fatal(err)
			}
			got := readAll(t, ctf.NewReader(trace), func(i int, e *ctf.Event) {})
			lines := 0
			if events > 0 {
				lines = len(babeltrace2(t, w.Dir()))
			}
			if uint64(got) != events || uint64(lines) != events {
				t.Errorf("%d events written, %d read, %d printed by babeltrace2", events, got, lines)
			}
			t.Logf("%d events in %d bytes", events, bytes)
		})
	}
}
