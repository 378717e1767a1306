package agent_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/internal/test/talk"
	"github.com/waymark-trace/waymark/tracer/client"
)

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// as returns how to run a program as another user.
func as(t *testing.T, uid int) []string {
	t.Helper()
	peer.Root(t)
	setpriv := peer.Need(t, "setpriv")[0]
	return []string{setpriv, fmt.Sprintf("--reuid=%d", uid), fmt.Sprintf("--regid=%d", uid), "--clear-groups"}
}

const owner, stranger = 65534, 65533

// userDir is a run-time directory of the owner, where this test's executable can be run by all.
func userDir(t *testing.T) (dir string, self []string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "waymark-users")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	must(t, os.Mkdir(dir+"/run", 0o700))
	must(t, os.Chown(dir+"/run", owner, owner))
	must(t, os.WriteFile(dir+"/test", []byte(readFile(t, os.Args[0])), 0o755))
	return dir, []string{dir + "/test"}
}

// runAs starts the copy of the target as a user.
func runAs(t *testing.T, uid int, exe, runtime string) *program {
	t.Helper()
	old := os.Args[0]
	os.Args[0] = exe
	defer func() { os.Args[0] = old }()
	return run(t, as(t, uid), "XDG_RUNTIME_DIR="+runtime)
}

// attack runs a shell command as a user and returns what it printed.
func attack(t *testing.T, uid int, command string) string {
	t.Helper()
	argv := append(as(t, uid), "sh", "-c", command)
	out, _ := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	return string(out)
}

// Another user can neither connect to an agent nor see its directory; root can.
func TestOtherUsers(t *testing.T) {
	dir, self := userDir(t)
	p := runAs(t, owner, self[0], dir+"/run")
	s := p.ask("look")
	if s.Err != "" || !strings.HasPrefix(s.Socket, dir+"/run/waymark/") {
		t.Fatalf("%+v", s)
	}
	for _, command := range []string{
		"ls " + filepath.Dir(s.Socket),
		"cat " + s.Socket,
		"ls " + dir + "/run",
	} {
		if out := attack(t, stranger, command); !strings.Contains(out, "Permission denied") {
			t.Errorf("%s as another user: %q", command, out)
		}
	}
	// Nor its rings, whose memory is in a file.
	a := dial(t, p) // as root
	recording, err := a.StartSession(&client.SessionOptions{Name: "secret", Size: 1 << 20})
	must(t, err)
	info, err := os.Lstat(recording.File)
	must(t, err)
	if st := info.Sys().(*syscall.Stat_t); info.Mode() != 0o600 || st.Uid != owner {
		t.Errorf("%s has mode %v and is user %d's", recording.File, info.Mode(), st.Uid)
	}
	for _, command := range []string{"cat " + recording.File, "ls " + filepath.Dir(recording.File)} {
		if out := attack(t, stranger, command); !strings.Contains(out, "Permission denied") {
			t.Errorf("%s as another user: %q", command, out)
		}
	}
	stranger := clientAs(t, stranger, self[0], p)
	if !strings.Contains(stranger, "permission denied") {
		t.Errorf("another user's client: %q", stranger)
	}
	if same := clientAs(t, owner, self[0], p); same != "<nil>" {
		t.Errorf("the same user's client: %q", same)
	}
	if root := clientAs(t, 0, self[0], p); root != "<nil>" {
		t.Errorf("root's client: %q", root)
	}
}

// clientAs runs the test's client as a user and returns what it says.
func clientAs(t *testing.T, uid int, exe string, p *program) string {
	t.Helper()
	argv := append(as(t, uid), exe)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "WAYMARK_TEST_ROLE=client", fmt.Sprintf("WAYMARK_TEST_PID=%d", p.PID()))
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	b := make([]byte, 4096)
	n, _ := out.Read(b)
	cmd.Process.Kill()
	cmd.Wait()
	return strings.TrimSpace(string(b[:n]))
}

// The socket opened to everybody, and its directory, still answer the owner and root only: the
// kernel says who connects.
func TestPeerCredentials(t *testing.T) {
	dir, self := userDir(t)
	p := runAs(t, owner, self[0], dir+"/run")
	s := p.ask("look")
	must(t, os.Chmod(s.Socket, 0o777))
	must(t, os.Chmod(dir+"/run", 0o755))
	must(t, os.Chmod(filepath.Dir(s.Socket), 0o755))
	if out := rawAs(t, stranger, self[0], s.Socket); !strings.HasPrefix(out, "nothing") {
		t.Errorf("another user with access to the socket: %q", out)
	}
	if out := rawAs(t, owner, self[0], s.Socket); !strings.Contains(out, `"process"`) {
		t.Errorf("the owner: %q", out)
	}
}

// rawAs connects to a socket as a user, whoever it is of, and returns what it is answered.
func rawAs(t *testing.T, uid int, exe, socket string) string {
	t.Helper()
	argv := append(as(t, uid), exe)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "WAYMARK_TEST_ROLE=raw", "WAYMARK_TEST_SOCKET="+socket)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Error(err)
	}
	return string(out)
}

func raw() {
	c, err := net.Dial("unix", os.Getenv("WAYMARK_TEST_SOCKET"))
	if err != nil {
		fmt.Println(err)
		return
	}
	io.WriteString(c, hello)
	b := make([]byte, 1000)
	if n, err := c.Read(b); err != nil {
		fmt.Println("nothing:", err)
	} else {
		fmt.Println(string(b[:n]))
	}
}

// fake listens at a socket in somebody's name until its input ends.
func fake() {
	l, err := net.Listen("unix", os.Getenv("WAYMARK_TEST_SOCKET"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ready")
	go l.Accept()
	io.Copy(io.Discard, os.Stdin)
}

// What another user has put where the directory would be is not used: neither a directory of theirs, nor
// a link. The agent says so when there is no other place.
func TestPlantedDirectory(t *testing.T) {
	for _, plant := range []string{
		"mkdir -m 0777 $WHERE",
		"mkdir -m 0700 $WHERE",
		"mkdir -m 0777 /tmp/wt-planted; ln -s /tmp/wt-planted $WHERE",
		"touch $WHERE",
		"ln -s /etc $WHERE",
	} {
		t.Run(plant, func(t *testing.T) {
			dir, self := userDir(t)
			must(t, os.Chmod(dir+"/run", 0o777|os.ModeSticky)) // as /tmp is
			t.Cleanup(func() { os.RemoveAll("/tmp/wt-planted") })
			if out := attack(t, stranger, "WHERE="+dir+"/run/waymark; "+plant); out != "" {
				t.Fatal(out)
			}
			p := runAs(t, owner, self[0], dir+"/run")
			s := p.ask("look")
			if s.Err != "" || strings.HasPrefix(s.Socket, dir) {
				t.Errorf("%+v: want an agent in another directory", s)
			}
			if out := attack(t, stranger, "ls "+dir+"/run/waymark/ /tmp/wt-planted 2>/dev/null"); strings.Contains(out, ".sock") {
				t.Errorf("the agent followed: %s", out)
			}
			if same := clientAs(t, owner, self[0], p); same != "<nil>" {
				t.Errorf("the same user's client: %q", same)
			}
			// With every other place planted, too, it refuses and says why.
			var others []string
			for _, place := range []string{"/run/user/%d", "/dev/shm/waymark-%d", "/tmp/waymark-%d"} {
				path := fmt.Sprintf(place, owner)
				if _, err := os.Lstat(path); err == nil && strings.HasPrefix(place, "/run") {
					t.Skip("the user is logged in")
				}
				others = append(others, path)
			}
			p.End()
			for _, path := range others[1:] {
				os.RemoveAll(path)
				if out := attack(t, stranger, "mkdir -m 0755 "+path); out != "" {
					t.Fatal(out)
				}
				defer os.RemoveAll(path)
			}
			q := runAs(t, owner, self[0], dir+"/run")
			if s := q.ask("look"); s.Err == "" || !strings.Contains(s.Err, "not a directory of this user alone") {
				t.Errorf("with every place planted: %+v", s)
			}
		})
	}
}

// Somebody who listens at a dead process's socket, or at one that is not there yet, is not taken for it: only
// the directory's owner could, and even then the kernel says which process answers.
func TestImpostor(t *testing.T) {
	runtimeDir(t)
	p := run(t, nil)
	s := p.ask("look")
	must(t, os.Rename(s.Socket, s.Socket+".away"))
	fake := exec.Command(os.Args[0])
	fake.Env = append(os.Environ(), "WAYMARK_TEST_ROLE=fake", "WAYMARK_TEST_SOCKET="+s.Socket)
	talk.Start(t, fake).Line() // ready
	_, err := client.Dial(p.PID())
	if err == nil || !strings.Contains(err.Error(), "somebody else answers at its socket") {
		t.Errorf("an impostor: %v", err)
	}
}
