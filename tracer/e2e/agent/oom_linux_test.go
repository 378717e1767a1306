package agent_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/client"
)

// eat marks at full rate, and notes before and behind each mark which it is, while it takes memory until the kernel kills it.
func eat(progress string) {
	f, err := os.OpenFile(progress, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = f.Truncate(4096)
	}
	if err != nil {
		panic(err)
	}
	memory, err := syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	var done atomic.Uint64
	go func() {
		for n := 0; ; n++ {
			binary.NativeEndian.PutUint64(memory, uint64(n+1))
			worked.Mark("x", n)
			binary.NativeEndian.PutUint64(memory[8:], uint64(n+1))
			done.Store(uint64(n + 1))
		}
	}()
	for done.Load() < 10_000 { // on a slow machine memory may end sooner
		time.Sleep(time.Millisecond)
	}
	var kept [][]byte
	for len(kept) < 1<<20 { // it is dead before
		b := make([]byte, 64<<10)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		kept = append(kept, b)
	}
}

// killedForMemory is how many processes of a cgroup the kernel has killed for want of memory.
func killedForMemory(t *testing.T, dir string) string {
	t.Helper()
	for _, name := range []string{"memory.oom_control", "memory.events"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			if m := regexp.MustCompile(`(?m)^oom_kill (\d+)$`).FindSubmatch(b); m != nil {
				return string(m[1])
			}
		}
	}
	t.Fatalf("%s does not say whether somebody was killed", dir)
	return ""
}

// A program that the kernel kills for want of memory, in the middle of marking, leaves every event that was complete.
func TestKilledForMemory(t *testing.T) {
	peer.Root(t)
	for _, flight := range []bool{true, false} {
		dir := memoryDir(t)
		group, join := peer.MemoryCgroup(t, 64<<20)
		progress := filepath.Join(t.TempDir(), "progress")
		p := run(t, []string{"sh", "-c", join + ` && exec "$0"`}, "WAYMARK_TEST_PROGRESS="+progress)
		p.ask("look")
		a := dial(t, p)
		_, err := a.StartSession(&client.SessionOptions{Name: "box", Patterns: []string{"target:worked"}, Flight: flight, Size: 2 << 20})
		must(t, err)
		must(t, a.Close())
		p.Tell("eat")
		p.Cmd.Wait()
		if s := p.Cmd.ProcessState.Sys().(syscall.WaitStatus); s.Signal() != syscall.SIGKILL || killedForMemory(t, group) != "1" {
			t.Fatalf("it ended by %v, and the kernel killed %s", s, killedForMemory(t, group))
		}
		all, err := client.Sessions()
		must(t, err)
		i := slices.IndexFunc(all, func(s client.Session) bool { return s.PID == p.PID() && !s.Alive })
		if i < 0 {
			t.Fatalf("%+v after its death", all)
		}
		tr, err := all[i].Recover()
		must(t, err)
		got, missing := numbers(t, tr)
		noted, err := os.ReadFile(progress)
		must(t, err)
		begun, done := binary.NativeEndian.Uint64(noted), binary.NativeEndian.Uint64(noted[8:])
		if sum := uint64(len(got) + missing); sum < done || sum > begun || len(got) == 0 || done < 10_000 {
			t.Errorf("flight %t: %d events and %d missing, %d were complete and %d begun", flight, len(got), missing, done, begun)
		}
		if !slices.IsSorted(got) || flight && uint64(got[len(got)-1]) < done-1 {
			t.Errorf("flight %t: out of order, or the last is not %d", flight, done-1)
		}
		t.Logf("flight %t: %d events, %d missing, of %d", flight, len(got), missing, begun)
		must(t, all[i].Remove())
		if left := glob(t, dir+"/waymark/*/*.ring"); len(left) > 0 {
			t.Errorf("%q are left", left)
		}
	}
}

// memoryDir is runtimeDir in memory, where such a directory usually is.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "waymark-test-")
	if err != nil {
		peer.Missing(t, "files in memory: "+err.Error())
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	return dir
}

// Rings that would take the memory that a program's cgroup has left are refused: to reserve them would be its death.
func TestRingsFit(t *testing.T) {
	peer.Root(t)
	dir := memoryDir(t)
	_, join := peer.MemoryCgroup(t, 48<<20)
	p := run(t, []string{"sh", "-c", join + ` && exec "$0"`})
	p.ask("look")
	a := dial(t, p)
	_, err := a.StartSession(&client.SessionOptions{Name: "box", Flight: true, Size: 64 << 20})
	if err == nil || !strings.Contains(err.Error(), "half of which may become rings") {
		t.Errorf("rings of 64 MiB in a cgroup of 48: %v", err)
	}
	_, err = a.StartSession(&client.SessionOptions{Name: "box", Flight: true, Size: 8 << 20})
	must(t, err)
	must(t, a.StopSession("box"))
	// Who asks for no size gets what there is room for.
	_, join = peer.MemoryCgroup(t, 32<<20)
	small := run(t, []string{"sh", "-c", join + ` && exec "$0"`})
	small.ask("look")
	target, markers := found(t, small)
	tr, err := tracer.Trace(target, markers, nil)
	must(t, err)
	if n := tr.Buffer(); n < 256<<10 || n >= 16<<20 {
		t.Errorf("rings of %d bytes in a cgroup of 32 MiB", n)
	}
	must(t, tr.Close())
	if s := p.ask("mark 10"); s.Armed {
		t.Errorf("%+v", s)
	}
	if left := glob(t, dir+"/waymark/*/*.ring"); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}
