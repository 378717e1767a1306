package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/internal/test/talk"
)

// converse starts a program that works when it is sent a line, and answers with one.
func converse(t *testing.T, name string, args ...string) *talk.Program {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	return talk.Start(t, cmd)
}

// private returns a directory at a path that every tool's syntax takes, with copies of files:
// other tests attach to every process of the originals.
func private(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "waymark")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, f := range files {
		run(t, "cp", "-L", f, dir)
	}
	return dir
}

const python = "/usr/bin/python3.11"

// sys.setprofile and the gc module say how often Python enters and leaves functions and
// collects; so do the markers.
func TestLivePython(t *testing.T) {
	peer.Root(t)
	peer.Need(t, python, "perf", "bpftrace")
	path := filepath.Join(private(t, python), "python3.11")
	p := converse(t, path, "-S", "testdata/count.py")
	var calls, returns, collections uint64
	p.Scan(&calls, &returns, &collections)
	functions := make([]string, calls)
	for i := range functions {
		var file, name string
		var line int
		p.Scan(&file, &name, &line)
		functions[i] = file + " " + name
	}
	// Debian's Python 3.11 passes function__entry only while somebody looks at line.
	markers := []string{"python:function__entry", "python:function__return", "python:gc__start", "python:gc__done", "python:line"}
	all := gather(t, path, p.PID(), map[string]string{"python:function__entry": `"%s %s", str(arg0), str(arg1)`}, markers...)
	var done string
	p.Tell("")
	p.Scan(&done)
	var v verdict
	v.counts, v.hits = all.stop()
	for i, want := range []uint64{calls, returns, collections, collections} {
		v.counted(t, markers[i], want)
	}
	v.carried(t, "python:function__entry", "file and function", functions)
	t.Logf("%d calls, %d returns, %d collections", calls, returns, collections)
}

const jdk = "/usr/lib/jvm/java-17-openjdk-amd64"

// jvm returns the commands of a Java whose machine is a copy, and compiles what they are to run.
func jvm(t *testing.T, class string) (java, libjvm, classes string) {
	t.Helper()
	peer.Need(t, jdk+"/bin/javac")
	dir := private(t)
	// The command finds everything else from where it lies itself.
	for _, name := range []string{"bin", "lib/server"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"bin/java", "lib/libjli.so", "lib/server/libjvm.so"} {
		run(t, "cp", "-L", filepath.Join(jdk, name), filepath.Join(dir, name))
	}
	for _, pattern := range []string{"conf", "lib/*", "lib/server/*"} {
		names, err := filepath.Glob(filepath.Join(jdk, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			err := os.Symlink(name, dir+strings.TrimPrefix(name, jdk))
			if err != nil && !errors.Is(err, os.ErrExist) {
				t.Fatal(err)
			}
		}
	}
	run(t, jdk+"/bin/javac", "-d", dir, "testdata/"+class+".java")
	return dir + "/bin/java", dir + "/lib/server/libjvm.so", dir
}

// The JVM's own log says how often it collects, compiles and loads classes.
func TestLiveJVM(t *testing.T) {
	peer.Root(t)
	peer.Need(t, "perf", "bpftrace")
	java, libjvm, classes := jvm(t, "Load")
	markers := []string{"hotspot:gc__begin", "hotspot:gc__end", "hotspot:method__compile__begin", "hotspot:method__compile__end", "hotspot:class__loaded"}
	all := gather(t, libjvm, 0, map[string]string{"hotspot:method__compile__begin": `"%s %s", str(arg2, arg3), str(arg4, arg5)`}, markers...)
	log := filepath.Join(classes, "log")
	// Compiled in the foreground, so that none is under way when the program ends.
	out := run(t, java, "-Xlog:gc,class+load:file="+log, "-XX:+PrintCompilation", "-Xbatch", "-XX:+UseSerialGC", "-Xmx64m", "-cp", classes, "Load", "20000")
	var v verdict
	v.counts, v.hits = all.stop()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var compiled []string
	// Time, number, attributes, tier, method, size: how wide each column is depends on the JDK.
	// Wrappers of native methods, n, come from no compiler.
	for _, m := range regexp.MustCompile(`(?m)^ *\d+ +\d+ +([%s!bn ]*)\d? +([\w.$]+)::(\S+)( .*)$`).FindAllStringSubmatch(out, -1) {
		if !strings.Contains(m[1], "n") && !strings.Contains(m[4], "made ") {
			compiled = append(compiled, strings.ReplaceAll(m[2], ".", "/")+" "+m[3])
		}
	}
	collections := uint64(strings.Count(string(text), "Pause "))
	loaded := uint64(strings.Count(string(text), " source: "))
	for i, want := range []uint64{collections, collections, uint64(len(compiled)), uint64(len(compiled)), loaded} {
		v.counted(t, markers[i], want)
	}
	v.carried(t, "hotspot:method__compile__begin", "class and method", compiled)
	t.Logf("%d collections, %d compilations, %d classes", collections, len(compiled), loaded)
}

// A program knows how often it throws and catches.
func TestLiveCPlusPlus(t *testing.T) {
	peer.Root(t)
	peer.Need(t, "g++", "perf", "bpftrace")
	library := strings.TrimSpace(run(t, "g++", "-print-file-name=libstdc++.so.6"))
	dir := private(t, library)
	program := filepath.Join(dir, "throw")
	run(t, "g++", "-O2", "-o", program, "testdata/throw.cc", "-Wl,-rpath,"+dir)
	const n = 1000
	watched, other := converse(t, program, fmt.Sprint(n)), converse(t, program, fmt.Sprint(n))
	path := filepath.Join(dir, "libstdc++.so.6")
	var caught uint64
	watched.Tell("")
	watched.Scan(&caught) // it has loaded the library
	all := gather(t, path, watched.PID(), nil, "libstdcxx:throw", "libstdcxx:catch", "libstdcxx:rethrow")
	watched.Tell("")
	watched.Scan(&caught)
	other.Tell("")
	other.Scan(&caught) // to be seen by nobody
	var v verdict
	v.counts, v.hits = all.stop()
	if caught != n {
		t.Fatalf("the program caught %d of %d", caught, n)
	}
	v.counted(t, "libstdcxx:throw", n)
	v.counted(t, "libstdcxx:rethrow", n/4)
	v.counted(t, "libstdcxx:catch", n+n/4)
}
