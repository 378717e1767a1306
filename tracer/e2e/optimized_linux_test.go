package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/link"
)

// optimized returns allkinds, linked with --optimize.
func optimized(t *testing.T, c gobuild.Config, o link.Options) string {
	path, _ := optimizedSite(t, c, o)
	return path
}

// optimizedSite returns also the address of the one site of kinds:signed.
func optimizedSite(t *testing.T, c gobuild.Config, o link.Options) (path string, site uint64) {
	t.Helper()
	path = allkinds(t, c)
	o.Optimize = true
	report, err := link.File(path, "", o)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range report.Sites {
		if !s.Optimized {
			t.Errorf("%s is left generic: %s", s.Name, s.Why)
		}
		if s.Name == "kinds:signed" {
			site = s.Address
		}
	}
	return path, site
}

// holding is allkinds that runs and waits to be told to mark.
type holding struct {
	*held
	target  tracer.Target
	markers []*tracer.Marker
}

func holdAllkinds(t *testing.T, path string, passes int) *holding {
	t.Helper()
	h := &holding{held: hold(t, path, passes)}
	h.target = tracer.PIDs(h.PID())
	all, err := tracer.Find(context.Background(), h.target)
	if err == nil {
		h.markers, err = tracer.Select(all, []string{"kinds:signed"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// When waymark says that it is attached, nothing is missed any more.
func TestOptimizedCountsFromAttached(t *testing.T) {
	peer.Root(t)
	for _, c := range []gobuild.Config{{}, {PIE: true, Strip: true}, {External: true}} {
		t.Run(c.String(), func(t *testing.T) {
			path := optimized(t, c, link.Options{})
			for range 5 {
				h := holdAllkinds(t, path, 1000)
				counter, err := tracer.Count(h.target, h.markers, nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := tracer.AwaitPatched(t.Context(), h.target, h.markers); err != nil {
					t.Fatal(err)
				}
				h.mark()
				counts, err := counter.Read()
				if err != nil || counts[0].Count != 1000 {
					t.Errorf("%v, %v: want 1000", counts, err)
				}
				counter.Close()
			}
		})
	}
}

// A program that starts later has read its counters before main.
func TestOptimizedCountsFromStart(t *testing.T) {
	peer.Root(t)
	for _, o := range []link.Options{{}, {NoWatch: true}} {
		path := optimized(t, gobuild.Config{}, o)
		target := tracer.Path(path)
		markers, err := tracer.Find(t.Context(), target)
		if err == nil {
			markers, err = tracer.Select(markers, []string{"kinds:signed"})
		}
		if err != nil {
			t.Fatal(err)
		}
		counter, err := tracer.Count(target, markers, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer counter.Close()
		for i := range 5 {
			run(t, path, "-n", "1000")
			counts, err := counter.Read()
			if want := uint64(i+1) * 1000; err != nil || counts[0].Count != want {
				t.Errorf("%v, %v: want %d", counts, err, want)
			}
		}
	}
}

// A process whose sites do not follow is not waited for for long.
func TestOptimizedThatDoesNotFollow(t *testing.T) {
	peer.Root(t)
	for name, o := range map[string]link.Options{"stopped": {}, "no watch": {NoWatch: true}} {
		t.Run(name, func(t *testing.T) {
			h := holdAllkinds(t, optimized(t, gobuild.Config{}, o), 1)
			if !o.NoWatch {
				if err := h.Cmd.Process.Signal(syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
			counter, err := tracer.Count(h.target, h.markers, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer counter.Close()
			for _, target := range []tracer.Target{h.target, tracer.Path(h.Cmd.Path)} {
				if err := tracer.AwaitPatched(t.Context(), target, h.markers); !errors.Is(err, tracer.ErrNotPatched) {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

// Other people's tracers, which wait for nothing, count everything from 100 ms after they raised
// the reference counter.
func TestOptimizedUnderOthers(t *testing.T) {
	peer.Root(t)
	peer.Need(t, "perf", "bpftrace", "gdb")
	peer.KernelEvents(t)
	const passes = 10000
	path := optimized(t, gobuild.Config{}, link.Options{})
	cache := t.TempDir()
	perf(t, cache, "buildid-cache", "--add", path)
	t.Cleanup(func() { perf(t, cache, "probe", "-q", "-d", "sdt_kinds:*") })
	perf(t, cache, "probe", "-q", "sdt_kinds:signed")
	follow := func(t *testing.T, h *holding) {
		t.Helper()
		eventually(t, "the sites have followed", func() bool { return tracer.AwaitPatched(t.Context(), h.target, h.markers) == nil })
	}
	t.Run("perf", func(t *testing.T) {
		h := holdAllkinds(t, path, passes)
		stat := statPerf(t, h.PID(), "sdt_kinds:signed")
		follow(t, h)
		h.mark()
		if n := stat.stop()["sdt_kinds:signed"]; n != passes {
			t.Errorf("counted %d of %d\n%s", n, passes, stat.out.String())
		}
	})
	t.Run("bpftrace", func(t *testing.T) {
		h := holdAllkinds(t, path, passes)
		b := runBpftrace(t, h.PID(), "usdt:"+path+":kinds:signed { @n = count() }")
		eventually(t, "it is attached", func() bool { return strings.Contains(b.out.String(), "alive") })
		follow(t, h)
		h.mark()
		if n := b.stop(t); n != fmt.Sprint(passes) {
			t.Errorf("counted %s of %d", n, passes)
		}
	})
	t.Run("gdb", func(t *testing.T) {
		// A signal that comes while gdb steps over its breakpoint returns to it, and gdb counts that
		// once more: no signals for preemption.
		out := run(t, "gdb", "-batch", "-nx", "-ex", "set environment GODEBUG asyncpreemptoff=1", "-ex", "set breakpoint pending on", "-ex", "break -probe-stap kinds:signed",
			"-ex", "ignore 1 1000000", "-ex", "handle SIGURG nostop noprint", "-ex", "run -n 100", "-ex", "info breakpoints", path)
		if !strings.Contains(out, "breakpoint already hit 100 times") {
			t.Errorf("gdb:\n%s", out)
		}
	})
}

// Sites that two patchers toggle while a kernel tracer comes and goes behave by what both want: the
// program checks itself, and counters are zero in the end.
func TestOptimizedStormWithUprobes(t *testing.T) {
	peer.Root(t)
	path := gobuild.Build(t, gobuild.Config{}, "../link/testdata/storm")
	if _, err := link.File(path, "", link.Options{Optimize: true}); err != nil {
		t.Fatal(err)
	}
	duration := "4s"
	if testing.Short() {
		duration = "1s"
	}
	cmd := exec.Command(path, duration)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	target := tracer.PIDs(cmd.Process.Pid)
	markers, err := tracer.Find(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	rounds, hits := 0, uint64(0)
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%v\n%s", err, &out)
			}
			t.Logf("%d times attached, %d hits; %s", rounds, hits, &out)
			if rounds == 0 || hits == 0 {
				t.Error("too few")
			}
			return
		default:
		}
		counter, err := tracer.Count(target, markers, nil)
		if err != nil {
			if !errors.Is(err, tracer.ErrNoProcess) {
				t.Fatal(err)
			}
			continue
		}
		if err := tracer.AwaitPatched(t.Context(), target, markers); err != nil {
			t.Error(err)
		}
		time.Sleep(20 * time.Millisecond)
		counts, err := counter.Read()
		if err != nil {
			t.Error(err)
		}
		for _, c := range counts {
			hits += c.Count
		}
		if err := counter.Close(); err != nil {
			t.Error(err)
		}
		rounds++
	}
}

func writeTracefs(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile("/sys/kernel/tracing/"+file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// While somebody's probe sits on a site, the byte there is the kernel's: it is left alone, and patched when
// the probe has gone.
func TestOptimizedSiteWithUprobe(t *testing.T) {
	peer.Root(t)
	path, site := optimizedSite(t, gobuild.Config{}, link.Options{})
	h := holdAllkinds(t, path, 1000)
	ahead := uint64(h.markers[0].Sites[0].Address) - uint64(h.markers[0].Sites[0].Offset)
	write := func(file, text string) { t.Helper(); writeTracefs(t, file, text) }
	name := fmt.Sprintf("waymark_site_%d/site", os.Getpid())
	write("uprobe_events", fmt.Sprintf("p:%s %s:%#x\n", name, path, site-ahead))
	t.Cleanup(func() { write("uprobe_events", "-:"+name+"\n") })
	enable := "events/" + name + "/enable"
	write(enable, "1")
	counter, err := tracer.Count(h.target, h.markers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer counter.Close()
	if err := tracer.AwaitPatched(t.Context(), h.target, h.markers); !errors.Is(err, tracer.ErrNotPatched) {
		t.Fatalf("with a probe on it: %v", err)
	}
	write(enable, "0")
	if err := tracer.AwaitPatched(t.Context(), h.target, h.markers); err != nil {
		t.Fatal(err)
	}
	// When it comes and goes on a live site, the kernel puts the byte of the file there.
	write(enable, "1")
	write(enable, "0")
	if err := tracer.AwaitPatched(t.Context(), h.target, h.markers); err != nil {
		t.Fatal(err)
	}
	h.mark()
	counts, err := counter.Read()
	if err != nil || counts[0].Count != 1000 {
		t.Errorf("%v, %v: want 1000", counts, err)
	}
}
