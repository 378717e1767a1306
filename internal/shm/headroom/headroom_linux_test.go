package headroom

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// What the files of either version say, of a process in a cgroup, in a container, and where nothing is said.
func TestFiles(t *testing.T) {
	const meminfo = "MemTotal: 2000 kB\nMemAvailable:    1000 kB\n"
	for _, tt := range []struct {
		name  string
		files map[string]string
		left  int64
		of    string
	}{
		{"no cgroups", map[string]string{"proc/meminfo": meminfo}, 1000 << 10, ""},
		{"version 1", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "5:cpu:/x\n4:hugetlb,memory:/a/b\n0::/u\n",
			"proc/self/mountinfo":          "30 20 0:5 / /cg rw - cgroup cgroup rw,memory,hugetlb\n",
			"cg/a/b/memory.limit_in_bytes": "9223372036854771712", "cg/a/b/memory.usage_in_bytes": "10000",
			"cg/a/memory.limit_in_bytes": "50000\n", "cg/a/memory.usage_in_bytes": "20000\n", "cg/a/memory.stat": "inactive_file 1\ntotal_inactive_file 500\n",
		}, 30500, "/cg/a"},
		{"version 2", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": "30 20 0:5 / /cg rw,nosuid shared:3 - cgroup2 none rw\n",
			"cg/a/memory.max": "70000\n", "cg/a/memory.current": "69000", "cg/a/memory.stat": "anon 3\ninactive_file 7\n",
		}, 1007, "/cg/a"},
		{"no limit", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": "30 20 0:5 / /cg rw - cgroup2 none rw\n",
			"cg/a/memory.max": "max\n", "cg/a/memory.current": "69000",
		}, 1000 << 10, ""},
		{"a container", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/docker/12\n",
			"proc/self/mountinfo":      "30 20 0:5 /docker/12 /cg ro - cgroup cgroup rw,memory\n",
			"cg/memory.limit_in_bytes": "5000", "cg/memory.usage_in_bytes": "6000",
		}, 0, "/cg"},
		{"a mount of elsewhere", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/docker/12\n",
			"proc/self/mountinfo":      "30 20 0:5 /other /cg ro - cgroup cgroup rw,memory\n",
			"cg/memory.limit_in_bytes": "5000", "cg/memory.usage_in_bytes": "1000",
		}, 4000, "/cg"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range tt.files {
				path := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			left, of, err := bytes(root)
			if err != nil || left != tt.left || of != tt.of {
				t.Errorf("%d of %q, %v; want %d of %q", left, of, err, tt.left, tt.of)
			}
		})
	}
	if _, _, err := bytes(t.TempDir()); err == nil {
		t.Error("nothing is known, and no error says so")
	}
}

// In a cgroup with a limit, which the kernel holds a process to.
func TestRealCgroup(t *testing.T) {
	if os.Getenv("WAYMARK_TEST_ROLE") == "look" {
		fmt.Println(Bytes())
		return
	}
	dir, join := peer.MemoryCgroup(t, 64<<20)
	cmd := exec.Command("sh", "-c", join+` && exec "$0" -test.run=TestRealCgroup`, os.Args[0])
	cmd.Env = append(os.Environ(), "WAYMARK_TEST_ROLE=look")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var left int64
	var of string
	if _, err := fmt.Sscan(string(out), &left, &of); err != nil || of != dir || left > 64<<20 || left < 16<<20 {
		t.Errorf("%q: want most of 64 MiB, of %s", strings.TrimSpace(string(out)), dir)
	}
}
