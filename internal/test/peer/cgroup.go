package peer

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// MemoryCgroup makes a cgroup whose processes may have so many bytes of memory together, and returns its directory and the
// shell command that joins it. Not every machine lets root make one.
func MemoryCgroup(t testing.TB, limit int64) (dir, join string) {
	t.Helper()
	Root(t)
	name := fmt.Sprintf("waymark-test-%d-%d", os.Getpid(), time.Now().UnixNano())
	var err error
	for _, g := range []struct{ parent, limit string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
		{"/sys/fs/cgroup", "memory.max"},
	} {
		if _, e := os.Stat(filepath.Join(g.parent, "cgroup.procs")); e != nil {
			err = e
			continue
		}
		dir = filepath.Join(g.parent, name)
		if err = os.Mkdir(dir, 0o755); err != nil {
			continue
		}
		if err = os.WriteFile(filepath.Join(dir, g.limit), []byte(strconv.FormatInt(limit, 10)), 0o644); err != nil {
			os.Remove(dir)
			continue
		}
		t.Cleanup(func() {
			for range 100 { // until its last process is gone
				if err = os.Remove(dir); err == nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
			t.Errorf("removing the cgroup: %v", err)
		})
		return dir, "echo $$ >" + dir + "/cgroup.procs"
	}
	Missing(t, fmt.Sprintf("a cgroup with a limit of memory: %v", err))
	return "", ""
}
