package guard

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// files is a worker whose every request makes a file, which Close removes.
type files struct{ made []string }

func init() { Serve(&files{}) }

func (w *files) Do(request []byte, fds []int) []byte {
	path := string(request)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return []byte(err.Error())
	}
	w.made = append(w.made, path)
	var st unix.Stat_t
	reply := ""
	for _, fd := range fds {
		if err := unix.Fstat(fd, &st); err != nil {
			return []byte(err.Error())
		}
		reply += fmt.Sprint(st.Ino, " ")
	}
	return []byte(reply)
}

func (w *files) Close() error {
	for _, path := range w.made {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// helperEnv makes the test binary a tracer to be killed: it has a guard make the file named.
const helperEnv = "WAYMARK_GUARD_TEST"

func TestMain(m *testing.M) {
	if path := os.Getenv(helperEnv); path != "" {
		g, err := Start()
		if err == nil {
			_, err = g.Do([]byte(path), nil)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(g.cmd.Process.Pid)
		select {}
	}
	os.Exit(m.Run())
}

func start(t *testing.T) *Guard {
	t.Helper()
	g, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 12_000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%s: not after two minutes", what)
}

func TestCloseTakesBack(t *testing.T) {
	var inherited [2]int // as if a shell had left them to us
	if err := unix.Pipe(inherited[:]); err != nil {
		t.Fatal(err)
	}
	defer closeAll(inherited[:])
	g := start(t)
	path := filepath.Join(t.TempDir(), "made")
	// More descriptors than fit one message, all of this directory.
	dir, err := os.Open(".")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	const n = 2*maxRights + 1
	reply, err := g.Do([]byte(path), slices.Repeat([]int{int(dir.Fd())}, n))
	if want := strings.Repeat(fmt.Sprint(st.Ino, " "), n); err != nil || string(reply) != want {
		t.Errorf("got %.100q, %v, want %d times inode %d", reply, err, n, st.Ino)
	}
	if !exists(path) {
		t.Error("the request was not met")
	}
	pid := g.cmd.Process.Pid
	if open := descriptors(t, pid); len(open) > 0 {
		t.Errorf("the guard has these open, too: %q", open)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if exists(path) {
		t.Error("Close took nothing back")
	}
	if err := g.Err(); err != nil {
		t.Errorf("after Close: %v", err)
	}
	if exists(fmt.Sprintf("/proc/%d", pid)) {
		t.Error("a zombie is left")
	}
}

// descriptors returns what a guard has open besides its socket, /dev/null, and the runtime's
// poller and limits of the control group.
func descriptors(t *testing.T, pid int) (open []string) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	fds, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	sockets := 0
	for _, fd := range fds {
		to, _ := os.Readlink(dir + "/" + fd.Name())
		if strings.HasPrefix(to, "socket:") {
			sockets++
		} else if to != "/dev/null" && !strings.HasPrefix(to, "anon_inode:[event") && !strings.HasPrefix(to, "/sys/fs/cgroup/") {
			open = append(open, to)
		}
	}
	if sockets != 1 {
		t.Errorf("the guard has %d sockets", sockets)
	}
	return open
}

// A guard takes back what it did when the process it works for is killed.
func TestParentDeath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	guard, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || !exists(path) {
		t.Errorf("the helper says %q, and its request was met: %t", line, exists(path))
	}
	cmd.Process.Kill()
	cmd.Wait()
	eventually(t, "everything is taken back", func() bool { return !exists(path) })
	eventually(t, "the guard has ended", func() bool {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", guard))
		return len(line) == 0 // gone, or a zombie that init has not looked at yet
	})
}

func TestGuardDeath(t *testing.T) {
	g := start(t)
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(g.cmd.Process.Pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-g.Ended()
	_, err := g.Do([]byte(filepath.Join(t.TempDir(), "never")), nil)
	for what, err := range map[string]error{"Err": g.Err(), "Do": err, "Close": g.Close()} {
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("guard process %d", g.cmd.Process.Pid)) ||
			!strings.Contains(err.Error(), "signal: killed") {
			t.Errorf("%s: %v, want one that says who has ended, and how", what, err)
		}
	}
}

func TestGuardKeepsToItself(t *testing.T) {
	g := start(t)
	pid := g.cmd.Process.Pid
	if sid, err := unix.Getsid(pid); err != nil || sid != pid {
		t.Errorf("its session is %d, %v, want its own, %d", sid, err, pid)
	}
	for _, signal := range []unix.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT} {
		if err := unix.Kill(pid, signal); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.Do([]byte(filepath.Join(t.TempDir(), "made")), nil); err != nil {
		t.Errorf("after the signals that end a tracer: %v", err)
	}
	for file, want := range map[string]string{
		"cmdline": fmt.Sprintf("waymark: guard of %d\x00", os.Getpid()),
		"comm":    "waymark-guard\n",
	} {
		if got, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file)); string(got) != want {
			t.Errorf("%s is %q, %v, want %q", file, got, err, want)
		}
	}
}

// Neither the variable nor the name alone makes a guard, and both without a socket end at once.
func TestNoGuardByAccident(t *testing.T) {
	for _, test := range []struct {
		args  []string
		value string
		runs  bool
	}{
		{[]string{"waymark", "-test.list=TestMain|TestNo"}, "1", true},
		{[]string{name("1"), "-test.list=TestNo"}, "1", true},
		{[]string{name("1")}, "1", false},
	} {
		cmd := &exec.Cmd{Path: "/proc/self/exe", Args: test.args, Env: append(os.Environ(), variable+"="+test.value)}
		out, err := cmd.Output()
		if ran := err == nil && strings.Contains(string(out), "TestNo"); ran != test.runs {
			t.Errorf("%q ran as itself: %t, want %t (%v)\n%s", test.args, ran, test.runs, err, out)
		}
	}
}
