package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// again runs a command over and over until the test ends.
func again(t *testing.T, cmd func() *exec.Cmd) {
	t.Helper()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			c := cmd()
			if err := c.Start(); err != nil {
				t.Error(err)
				return
			}
			ended := make(chan error, 1)
			go func() { ended <- c.Wait() }()
			select {
			case <-stop:
				c.Process.Signal(syscall.SIGTERM)
				<-ended
				return
			case err := <-ended:
				if err != nil {
					t.Errorf("%s: %v", c, err)
					return
				}
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-stopped })
}

// What the cookbook shows is what its commands print. Left out are its events of the kernel, in
// a block of text: they are the whole machine's, and other tests have some of the same name.
func TestCookbook(t *testing.T) {
	peer.Root(t)
	text, err := os.ReadFile("../../docs/cookbook.md")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "waymark")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	// What a section needs, and where it looks instead: other tests attach to the originals.
	prepare := map[string]func(t *testing.T) (original, replacement string){
		"PostgreSQL": func(t *testing.T) (string, string) {
			peer.Need(t, postgresBin+"postgres", postgresBin+"pgbench")
			c := startCluster(t)
			again(t, func() *exec.Cmd { return asNobody(c.dir, postgresBin+"pgbench", "-n", "-c", "4", "-t", "200") })
			return postgresBin + "postgres", c.executable
		},
		"Python": func(t *testing.T) (string, string) {
			peer.Need(t, python)
			return "", ""
		},
		"JVM": func(t *testing.T) (string, string) {
			java, libjvm, classes := jvm(t, "Load")
			again(t, func() *exec.Cmd { return exec.Command(java, "-cp", classes, "-Xmx64m", "Load", "20000") })
			return jdk + "/lib/server/libjvm.so", libjvm
		},
		"C++": func(t *testing.T) (string, string) {
			peer.Need(t, "g++")
			library := strings.TrimSpace(run(t, "g++", "-print-file-name=libstdc++.so.6"))
			libraries := private(t, library)
			program := filepath.Join(dir, "throw")
			run(t, "g++", "-O2", "-o", program, "testdata/throw.cc", "-Wl,-rpath,"+libraries)
			again(t, func() *exec.Cmd {
				c := exec.Command(program, "1000")
				c.Stdin = strings.NewReader("\n")
				return c
			})
			return "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", filepath.Join(libraries, "libstdc++.so.6")
		},
		"Your C program":  func(t *testing.T) (string, string) { peer.Header(t, "sys/sdt.h"); peer.Need(t, "gcc"); return "", "" },
		"Your Go program": func(*testing.T) (string, string) { return "", "" },
		"The same markers in perf, bpftrace and gdb": func(t *testing.T) (string, string) { peer.Need(t, "bpftrace", "gdb"); return "", "" },
	}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		heading, body, _ := strings.Cut(section, "\n")
		t.Run(heading, func(t *testing.T) {
			if prepare[heading] == nil {
				t.Fatal("a section that the test does not know")
			}
			replace := []string{"./tick", dir + "/tick", "-o tick", "-o " + dir + "/tick", "./throw", dir + "/throw"}
			if original, replacement := prepare[heading](t); original != "" {
				replace = append(replace, original, replacement)
			}
			commands := 0
			for _, m := range block.FindAllStringSubmatch(body, -1) {
				for _, session := range strings.Split("\n"+m[2], "\n$ ")[1:] {
					commands++
					// The programs lie elsewhere, in what is printed, too.
					command, want, _ := strings.Cut(strings.NewReplacer(replace...).Replace(session), "\n")
					checkTranscript(t, filepath.Join(dir, "server"), command, want)
				}
			}
			if commands == 0 {
				t.Error("no command was run")
			}
		})
	}
}
