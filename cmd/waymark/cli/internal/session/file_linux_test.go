package session

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// messages are what a session prints while it goes on.
type messages struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (m *messages) Write(b []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.text.Write(b)
}

func (m *messages) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.text.String()
}

// A path that leads to another file than the one that is traced is named once: after a rename, and when overlayfs
// copies the file.
func TestWatchFile(t *testing.T) {
	peer.Root(t)
	done := make(chan bool)
	go func() { // on a thread of its own, which ends with its mounts
		runtime.LockOSThread()
		defer close(done)
		dir := t.TempDir()
		for _, name := range []string{"lower", "upper", "work", "merged"} {
			if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
				t.Error(err)
			}
		}
		plain, over := filepath.Join(dir, "plain"), filepath.Join(dir, "merged/over")
		for _, path := range []string{plain, filepath.Join(dir, "lower/over")} {
			if err := os.WriteFile(path, []byte("program"), 0o755); err != nil {
				t.Error(err)
			}
		}
		watched(t, plain, "was replaced by another file", func() error {
			if err := os.WriteFile(plain+".new", []byte("program"), 0o755); err != nil {
				return err
			}
			return os.Rename(plain+".new", plain)
		})
		if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS); err != nil {
			t.Error(err)
			return
		}
		options := "lowerdir=" + dir + "/lower,upperdir=" + dir + "/upper,workdir=" + dir + "/work"
		err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		if err == nil {
			err = unix.Mount("overlay", dir+"/merged", "overlay", 0, options)
		}
		if err != nil {
			t.Logf("mounting overlayfs: %v", err)
			return
		}
		was := lookAt(over)
		if err := os.Chmod(over, 0o700); err != nil {
			t.Error(err)
		}
		if text, ok := was.differs(lookAt(over)); !ok || !strings.Contains(text, "was changed on overlayfs") {
			t.Errorf("after a copy it says %q", text)
		}
		if text, ok := was.differs(was); ok {
			t.Errorf("of a file that is the same it says %q", text)
		}
		if err := unix.Unmount(dir+"/merged", unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	<-done
}

// watched has a file watched, and changes it.
func watched(t *testing.T, path, want string, change func() error) {
	t.Helper()
	said := &messages{}
	s := &Session{Env: term.NewEnv(term.Streams{Stderr: said}), Subject: Subject{Path: path}, named: path, file: lookAt(path), over: make(chan struct{})}
	ended := make(chan bool)
	go func() { s.watchFile(); close(ended) }()
	if err := change(); err != nil {
		t.Error(err)
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the file is still taken for the same")
		close(s.over)
	}
	if got := said.String(); !strings.Contains(got, want) || !strings.Contains(got, "hint: end waymark and start it again") {
		t.Errorf("it says %q, want %q", got, want)
	}
}
