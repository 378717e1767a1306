package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/sdt"
)

const postgresBin = "/usr/lib/postgresql/15/bin/"

// cluster is a private PostgreSQL server on a Unix socket, without background work that
// would make transactions of its own.
//
// The server is a copy of the executable: other tests attach to every process of the original.
type cluster struct {
	dir        string
	executable string
	server     *exec.Cmd
	log        lockedBuffer
}

// asNobody makes a command run as a user that PostgreSQL agrees to run as.
func asNobody(dir string, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "PGHOST="+dir, "PGUSER=test", "PGDATABASE=postgres", "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// startCluster starts one with these settings besides.
func startCluster(t *testing.T, settings ...string) *cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "waymark-pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	if out, err := asNobody(dir, postgresBin+"initdb", "-N", "-D", data, "-U", "test", "-A", "trust").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	executable := filepath.Join(dir, "postgres")
	image, err := os.ReadFile(postgresBin + "postgres")
	if err == nil {
		err = os.WriteFile(executable, image, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-D", data, "-k", dir}
	for _, s := range append(settings, "listen_addresses=", "autovacuum=off", "fsync=off", "max_logical_replication_workers=0") {
		args = append(args, "-c", s)
	}
	c := &cluster{dir: dir, executable: executable, server: asNobody(dir, executable, args...)}
	c.server.Stdout, c.server.Stderr = &c.log, &c.log
	if err := c.server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.server.Process.Signal(os.Interrupt) // fast shutdown
		c.server.Wait()
		if t.Failed() {
			t.Logf("server log:\n%s", c.log.String())
		}
	})
	eventually(t, "server accepts connections", func() bool {
		return asNobody(dir, postgresBin+"pg_isready", "-q").Run() == nil
	})
	if out, err := asNobody(dir, postgresBin+"pgbench", "-i", "-q", "-n").CombinedOutput(); err != nil {
		t.Fatalf("pgbench -i: %v\n%s", err, out)
	}
	return c
}

var processed = regexp.MustCompile(`number of transactions actually processed:\s*(\d+)`)

// pgbench runs transactions on two clients and returns how many it says there were.
func (c *cluster) pgbench(t *testing.T, perClient int) uint64 {
	t.Helper()
	out, err := asNobody(c.dir, postgresBin+"pgbench", "-n", "-S", "-c", "2", "-t", fmt.Sprint(perClient)).CombinedOutput()
	m := processed.FindSubmatch(out)
	if err != nil || m == nil {
		t.Fatalf("pgbench: %v\n%s", err, out)
	}
	n, err := strconv.ParseUint(string(m[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// counters returns the sum of all reference counters in all of the server's processes.
func (c *cluster) counters(t *testing.T, f *sdt.File) (sum int) {
	t.Helper()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", c.server.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range append(strings.Fields(string(children)), fmt.Sprint(c.server.Process.Pid)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		maps, err := procfs.Maps(pid)
		if err != nil {
			continue // a backend that ended
		}
		var exe procfs.File
		for _, m := range maps {
			if m.Path == c.executable {
				exe = m.File()
			}
		}
		for _, s := range f.Sites {
			if at, ok := procfs.Address(maps, exe, uint64(s.CounterOffset)); ok {
				n, err := procfs.ReadCounter(pid, at)
				if err == nil {
					sum += int(n)
				}
			}
		}
	}
	return sum
}

// waymark counts what pgbench counts, and leaves every reference counter as it was.
func TestPostgreSQL(t *testing.T) {
	peer.Root(t)
	peer.Need(t, postgresBin+"postgres", postgresBin+"pgbench")
	f, err := sdt.Open(postgresBin + "postgres")
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Sites) == 0 {
		t.Fatal("this postgres has no markers")
	}
	c := startCluster(t)
	if n := c.counters(t, f); n != 0 {
		t.Fatalf("counters sum up to %d before anybody attached", n)
	}

	t.Run("exact", func(t *testing.T) {
		run := func(perClient int) (bench, counted uint64) {
			w := watch(t, c.executable, "postgresql:transaction__start")
			if c.counters(t, f) == 0 {
				t.Error("no counter is raised while waymark is attached")
			}
			bench = c.pgbench(t, perClient)
			return bench, w.stop()["postgresql:transaction__start"]
		}
		// The control run says how many transactions connecting and asking for the scale makes.
		bench, all := run(1)
		setup := all - bench
		for _, perClient := range []int{500, 2000} {
			if bench, got := run(perClient); got != bench+setup || bench != uint64(2*perClient) {
				t.Errorf("waymark counted %d transactions, pgbench %d, and its setup makes %d", got, bench, setup)
			}
		}
	})
	t.Run("counters", func(t *testing.T) {
		lowered := func() bool { return c.counters(t, f) == 0 }
		w := watch(t, c.executable)
		w.stop()
		eventually(t, "counters are 0 after an interrupt", lowered)
		w = watch(t, "-d", "200ms", c.executable)
		if err := w.cmd.Wait(); err != nil {
			t.Error(err)
		}
		w.done = true
		eventually(t, "counters are 0 after -d", lowered)
		w = watch(t, c.executable)
		if c.counters(t, f) == 0 {
			t.Error("no counter is raised while waymark is attached")
		}
		w.kill()
		eventually(t, "counters are 0 after SIGKILL", lowered)
		c.pgbench(t, 10)
	})
}
