package tracer

import (
	"bufio"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/doctor"
)

// left returns the state of the one counter of l, which is looked at from the outside.
func (l *late) state() doctor.Counter {
	l.t.Helper()
	markers := mustFind(l.t, PIDs(l.PID()), "late:hit")
	states, err := doctor.Counters(l.PID(), markers)
	if err != nil {
		l.t.Fatal(err)
	}
	if len(states) != 1 {
		l.t.Fatalf("counters %+v, want one", states)
	}
	return states[0]
}

// What the kernel left behind is put back as well: one that cannot lower a counter keeps its uprobe, for which nobody
// looks any more.
func TestRepairBesideLeakedUprobe(t *testing.T) {
	stuck, other := startLate(t), startLate(t)
	other.library = stuck.library
	stuck.open()
	other.open()
	other.find()
	both := Path(stuck.library)
	c := count(t, both, stuck.find())
	stuck.set(0) // "ref_ctr going negative", "failed to unregister, leaking uprobe"
	closeNow(t, c)
	if s := stuck.state(); s.Attached != 1 {
		t.Logf("this kernel keeps no breakpoint: %+v", s)
	}
	other.set(1)
	s := other.state()
	if !s.Leaked || s.Attached != 0 {
		t.Fatalf("raised beside a uprobe that the kernel keeps: %+v", s)
	}
	if err := doctor.Repair([]doctor.Counter{s})[0]; err != nil {
		t.Fatal(err)
	}
	// The kernel takes its uprobe out once it finds to lower what it wants to.
	again := count(t, both, stuck.find())
	stuck.set(1)
	closeNow(t, again)
	for _, l := range []*late{stuck, other} {
		if s := l.state(); s.Leaked || s.Value != 0 || s.Attached != 0 {
			t.Errorf("in the end: %+v", s)
		}
	}
}

// A counter that a dead tracer leaked is found, and put back.
func TestRepairCounter(t *testing.T) {
	l := startLate(t)
	l.open()
	l.find()
	s := l.state()
	if s.Leaked || s.Value != 0 || s.Sites != 1 || s.Attached != 0 || s.Comm != "late" {
		t.Errorf("untouched: %+v", s)
	}
	if err := doctor.Repair([]doctor.Counter{s})[0]; err == nil {
		t.Error("repaired what is whole")
	}
	l.set(3)
	s = l.state()
	if !s.Leaked || s.Value != 3 || s.Initial != 0 {
		t.Errorf("raised by hand: %+v", s)
	}
	// Another value than was seen, and somebody who has attached, keep it from being touched.
	l.set(4)
	if err := doctor.Repair([]doctor.Counter{s})[0]; !errors.Is(err, ErrChanged) {
		t.Errorf("repairing another value than was seen: %v, want ErrChanged", err)
	}
	l.set(3)
	c := count(t, PIDs(l.PID()), l.find())
	if err := doctor.Repair([]doctor.Counter{s})[0]; !errors.Is(err, ErrChanged) {
		t.Errorf("repairing what is traced by now: %v, want ErrChanged", err)
	}
	if now := l.state(); now.Leaked || now.Attached != 1 || now.Value != 4 {
		t.Errorf("traced: %+v", now)
	}
	closeNow(t, c)
	s = l.state()
	if err := doctor.Repair([]doctor.Counter{s})[0]; err != nil {
		t.Fatal(err)
	}
	l.await("after the repair", l.PID(), 0)

	gone := startLate(t)
	gone.open()
	gone.find()
	gone.set(1)
	s = gone.state()
	gone.Cmd.Process.Kill()
	gone.Cmd.Wait()
	if err := doctor.Repair([]doctor.Counter{s})[0]; !errors.Is(err, ErrNoProcess) {
		t.Errorf("repairing a process that has ended: %v, want ErrNoProcess", err)
	}
}

// A counter is nobody's leftover while any tracer has the marker, whoever it is, and a site that the
// kernel has made a call of is attached too.
func TestCounterNotLeftWhileTraced(t *testing.T) {
	for _, path := range []string{tick(t), tick5(t)} {
		p := startTick(t, path, 100)
		markers := mustFind(t, PIDs(p.PID()), "loop2")
		state := func() doctor.Counter {
			t.Helper()
			states, err := doctor.Counters(p.PID(), markers)
			if err != nil || len(states) != 1 {
				t.Fatalf("%+v, %v", states, err)
			}
			return states[0]
		}
		c := count(t, Path(path), mustFind(t, Path(path), "loop2"))
		if s := state(); s.Leaked || s.Value != 1 || s.Attached != 1 {
			t.Errorf("traced by waymark: %+v", s)
		}
		p.run()
		p.Expect("done 100")
		if s := state(); s.Leaked || s.Value != 1 || s.Attached != 1 {
			t.Errorf("traced and hit: %+v", s)
		}
		closeNow(t, c)
		if s := state(); s.Leaked || s.Value != 0 || s.Attached != 0 {
			t.Errorf("not traced any more: %+v", s)
		}
	}
}

// startPeer starts a tracer and returns when it has said something.
func startPeer(t *testing.T, says string, argv ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), says) {
			return cmd
		}
	}
	t.Fatalf("%s has not said %q", argv[0], says)
	return nil
}

func TestCounterNotLeftByPeers(t *testing.T) {
	peers := peer.Need(t, "bpftrace")
	path := tick(t)
	p := startTick(t, path, 100)
	markers := mustFind(t, PIDs(p.PID()), "loop2")
	raised := func(what string) (s doctor.Counter) {
		t.Helper()
		eventually(t, "a counter raised by "+what, func() bool {
			states, err := doctor.Counters(p.PID(), markers)
			if err != nil || len(states) != 1 {
				t.Fatalf("%+v, %v", states, err)
			}
			s = states[0]
			return s.Value > 0
		})
		return s
	}
	// bpftrace prints events once it has attached everything. Killed while the kernel attaches, it would leave
	// the counter raised.
	cmd := startPeer(t, "alive", peers[0], "-B", "line", "-p", fmt.Sprint(p.PID()), "-e",
		"usdt:"+path+":sdt_tick:loop2 { @ = count(); } interval:ms:50 { printf(\"alive\\n\"); }")
	if s := raised("bpftrace"); s.Leaked || s.Attached != 1 {
		t.Errorf("traced by bpftrace: %+v", s)
	}
	cmd.Process.Kill()
	cmd.Wait()
	eventually(t, "nothing raised after bpftrace", func() bool {
		states, err := doctor.Counters(p.PID(), markers)
		return err == nil && states[0].Value == 0
	})
}
