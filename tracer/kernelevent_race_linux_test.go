package tracer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/tracefs"
	"github.com/waymark-trace/waymark/tracer/kernelevent"
	"golang.org/x/sys/unix"
)

// Another file takes the program's path while an event is defined by it. An event that is defined is hit by the program
// that Find read.
func TestKernelEventWhileExchanged(t *testing.T) {
	dir := needTracefs(t)
	path := copyOf(t, tick(t))
	decoy := filepath.Join(filepath.Dir(path), "decoy")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(decoy, append(data, 0), 0o755); err != nil {
		t.Fatal(err)
	}
	exchange := func() {
		if err := unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, decoy, unix.RENAME_EXCHANGE); err != nil {
			t.Error(err)
		}
	}
	instance := filepath.Join(dir, "instances", fmt.Sprintf("waymark-exchange-%d", os.Getpid()))
	if err := os.Mkdir(instance, 0o755); err != nil {
		peer.Missing(t, fmt.Sprintf("instances of ftrace: %v", err))
	}
	defer os.Remove(instance)
	markers := mustFind(t, Path(path), "args")
	const rounds = 50
	defined := 0
	for range rounds {
		done := make(chan struct{})
		go func() {
			defer close(done)
			time.Sleep(rand.N(500 * time.Microsecond)) // defining takes about as long
			exchange()
		}()
		events, err := kernelevent.Define(markers)
		<-done
		exchange()
		if err != nil {
			if !errors.Is(err, ErrChanged) {
				t.Fatal(err)
			}
			continue
		}
		defined++
		e := events[0]
		enable := filepath.Join(instance, "events", tracefs.Name(e.Group, 64), tracefs.Name(e.Name, 64), "enable")
		if err := os.WriteFile(enable, []byte("1"), 0); err != nil {
			t.Fatal(err)
		}
		run(t, path, "3", "run")
		all, err := kernelevent.List()
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(all, func(o kernelevent.Event) bool { return o.FullName() == e.FullName() }); i < 0 || all[i].Hits == 0 {
			t.Errorf("%s is in the decoy", e.FullName())
		}
		if err := errors.Join(os.WriteFile(enable, []byte("0"), 0), kernelevent.Delete(e.Group, e.Name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d were defined", defined, rounds)
	all, err := kernelevent.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.Places[0].Path == path {
			t.Errorf("%s is left", e.FullName())
		}
	}
}
