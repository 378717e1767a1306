package agent_test

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/waymark-trace/waymark/internal/shm/rundir"
	"github.com/waymark-trace/waymark/internal/shm/wire"
)

// wireClient connects to a target's agent by its protocol.
func wireClient(t *testing.T, p *program) *wire.Client {
	t.Helper()
	dir, o, err := rundir.Of(p.PID())
	must(t, err)
	defer dir.Close()
	conn, err := wire.Dial(dir.Inside(o.Socket()), wire.Peer{PID: p.PID(), UID: o.UID})
	must(t, err)
	c, _, err := wire.NewClient(conn)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// The descriptor that a client gets does not let it cut the rings short, which would end the program by SIGBUS.
func TestCutByClient(t *testing.T) {
	runtimeDir(t)
	p := run(t, nil)
	before := p.ask("look")
	for _, tt := range []struct{ name, mode string }{{"", wire.Discard}, {"", wire.Count}, {"named", wire.Discard}, {"black-box", wire.Overwrite}} {
		c := wireClient(t, p)
		a, f, err := c.AskFile(&wire.Request{Do: wire.Record, Session: &wire.Session{Name: tt.name, Mode: tt.mode, Patterns: []string{"target:worked"}, Size: 256 << 10}})
		must(t, err)
		defer f.Close()
		info, err := f.Stat()
		must(t, err)
		for _, size := range []int64{0, 4096, 1 << 30} {
			if err := f.Truncate(size); err == nil {
				t.Errorf("%q, %s: a client set the file's size to %d", tt.name, tt.mode, size)
			}
		}
		// By another description of the file, unless it has a name that its user can open anyway.
		if again, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), os.O_RDWR, 0); err == nil && tt.name == "" {
			if err := again.Truncate(0); err == nil {
				t.Errorf("%s: cut short once it was opened again", tt.mode)
			}
			again.Close()
		}
		if err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, info.Size()); tt.name != "" && err == nil {
			t.Errorf("%q: a client punched a hole", tt.name)
		}
		p.ask("mark 10000") // it is still there
		if tt.name != "" {
			_, err := c.Ask(&wire.Request{Do: wire.Stop, Name: a.Session.Name})
			must(t, err)
		}
		c.Close()
	}
	settled(t, p, before)
}
