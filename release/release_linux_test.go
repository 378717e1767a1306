package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/spdx/tools-golang/json"
	"golang.org/x/sys/unix"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

const testVersion = "v1.2.3-rc.1"

// built builds one release for all tests, for this machine alone unless everything is to be compiled.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "waymark-release-test")
	if err != nil {
		return "", err
	}
	os.Setenv("SOURCE_DATE_EPOCH", "1750000000")
	if os.Getenv("WAYMARK_CROSS") != "all" {
		architectures = []string{runtime.GOARCH}
	}
	return filepath.Join(dir, "dist"), run(testVersion, "..", filepath.Join(dir, "dist"), io.Discard)
})

func TestMain(m *testing.M) {
	status := m.Run()
	if dir, err := built(); err == nil {
		os.RemoveAll(filepath.Dir(dir))
	}
	os.Exit(status)
}

func dist(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles everything once more")
	}
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// output runs a command and returns its output.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestReproducible builds once more, from a copy of the tree in another directory.
func TestReproducible(t *testing.T) {
	want := dist(t)
	copied := filepath.Join(t.TempDir(), "elsewhere")
	output(t, "sh", "-c", `mkdir "$1" && tar -c --exclude=./.git -C .. . | tar -x -C "$1"`, "sh", copied)
	got := filepath.Join(t.TempDir(), "dist")
	if err := run(testVersion, copied, got, io.Discard); err != nil {
		t.Fatal(err)
	}
	output(t, "diff", "-r", want, got)
	cmd := exec.Command("sha256sum", "--quiet", "-c", "SHA256SUMS")
	cmd.Dir = got
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestBinary(t *testing.T) {
	peer.Need(t, "file", "man")
	dir := t.TempDir()
	output(t, "tar", "-x", "-C", dir, "-f", archive(t))
	root := filepath.Join(dir, strings.TrimSuffix(filepath.Base(archive(t)), ".tar.gz"))
	if got, want := output(t, filepath.Join(root, "bin/waymark"), "version"), "waymark "+testVersion+" "; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := output(t, "file", filepath.Join(root, "bin/waymark")); !strings.Contains(got, "statically linked") {
		t.Error(got)
	}
	// man reads the page of every verb, and finds nothing to warn about.
	pages, err := filepath.Glob(filepath.Join(root, "share/man/man1/*"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		cmd := exec.Command("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", page)
		var warnings bytes.Buffer
		cmd.Env, cmd.Stderr = append(os.Environ(), "LC_ALL=C.UTF-8", "MANROFFSEQ=", "MANWIDTH=80"), &warnings
		text, err := cmd.Output()
		plain := regexp.MustCompile(`.\x08`).ReplaceAll(text, nil) // man prints bold letters twice
		if err != nil || warnings.Len() > 0 || !bytes.Contains(plain, []byte("\nNAME\n       waymark")) {
			t.Errorf("%s: %v\n%s\n%s", page, err, warnings.Bytes(), plain)
		}
	}
}

func archive(t *testing.T) string {
	return filepath.Join(dist(t), "waymark_1.2.3-rc.1_linux_"+runtime.GOARCH+".tar.gz")
}

// TestBillOfMaterials compares the packages of the document with the go command's list of the same binary.
func TestBillOfMaterials(t *testing.T) {
	f, err := os.Open(filepath.Join(dist(t), "waymark_1.2.3-rc.1_linux_"+runtime.GOARCH+".spdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	document, err := json.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range document.Packages {
		got[p.PackageName] = p.PackageVersion
	}
	dir := t.TempDir()
	output(t, "tar", "-x", "-C", dir, "--strip-components=2", "-f", archive(t))
	n := 0
	for line := range strings.Lines(output(t, "go", "version", "-m", filepath.Join(dir, "waymark"))) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] != "dep" {
			continue
		}
		n++
		want := fields[2]
		if strings.HasPrefix(fields[1], "github.com/waymark-trace/") {
			want = testVersion
		}
		if got[fields[1]] != want {
			t.Errorf("%s is %q, want %q", fields[1], got[fields[1]], want)
		}
	}
	if n < 5 || len(got) != n+2 { // with the command itself and Go
		t.Errorf("%d dependencies, and %d packages in the document", n, len(got))
	}
}

// TestDebian installs the package in a copy of this system, an overlay whose upper directory shows every change.
func TestDebian(t *testing.T) {
	peer.Root(t)
	peer.Need(t, "lintian", "dpkg")
	packages, err := filepath.Glob(filepath.Join(dist(t), "*.deb"))
	if err != nil || len(packages) != len(architectures) {
		t.Fatal(packages, err)
	}
	deb := filepath.Join(dist(t), "waymark_1.2.3~rc.1-1_"+runtime.GOARCH+".deb")
	output(t, "lintian", "--allow-root", "--fail-on", "error", deb)

	root, upper := overlay(t)
	installed := "/waymark.deb"
	output(t, "cp", deb, root+installed)
	inside := func(args ...string) string {
		t.Helper()
		return output(t, "chroot", append([]string{root}, args...)...)
	}
	inside("dpkg", "--install", installed)
	if got := inside("waymark", "version"); !strings.Contains(got, testVersion) {
		t.Error(got)
	}
	inside("waymark", "list")
	if got := inside("waymark", "doctor"); !strings.Contains(got, "attached, and detached") {
		t.Error(got)
	}
	if got := inside("dpkg", "--listfiles", "waymark"); !strings.Contains(got, "/usr/share/man/man1/waymark-trace.1.gz") ||
		!strings.Contains(got, "/usr/share/bash-completion/completions/waymark") {
		t.Error(got)
	}
	inside("dpkg", "--purge", "waymark")
	for line := range strings.Lines(output(t, "find", upper, "-type", "f")) {
		path := strings.TrimPrefix(strings.TrimSpace(line), upper)
		switch {
		case path == installed, strings.HasPrefix(path, "/var/lib/dpkg/"), strings.HasPrefix(path, "/var/log/"), strings.HasPrefix(path, "/var/cache/"):
		default:
			t.Errorf("%s is left, or was changed", path)
		}
	}
}

// overlay mounts a copy of this system, whose changes go to a file system in memory, and returns both directories.
func overlay(t *testing.T) (root, upper string) {
	t.Helper()
	dir := t.TempDir()
	mount := func(kind, target, options string) {
		t.Helper()
		if err := unix.Mount(kind, target, kind, 0, options); err != nil {
			t.Fatalf("mounting %s: %v", kind, err)
		}
		t.Cleanup(func() {
			if err := unix.Unmount(target, unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
	}
	mount("tmpfs", dir, "")
	upper, work, root := filepath.Join(dir, "upper"), filepath.Join(dir, "work"), filepath.Join(dir, "root")
	for _, d := range []string{upper, work, root} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mount("overlay", root, "lowerdir=/,upperdir="+upper+",workdir="+work)
	for _, d := range []string{"proc", "dev", "sys"} {
		if err := unix.Mount("/"+d, filepath.Join(root, d), "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Unmount(filepath.Join(root, d), unix.MNT_DETACH) })
	}
	return root, upper
}

// TestContents checks the formats that cannot be installed on this distribution.
func TestContents(t *testing.T) {
	peer.Need(t, "rpm")
	want := []string{"/usr/bin/waymark", "/usr/share/man/man1/waymark-stat.1.gz", "/usr/share/bash-completion/completions/waymark", "/usr/share/doc/waymark/changelog.gz"}
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	rpm := filepath.Join(dist(t), "waymark-1.2.3~rc.1-1."+machine+".rpm")
	contains(t, output(t, "rpm", "--query", "--package", "--list", rpm), want, "")
	if got, want := output(t, "rpm", "--query", "--package", "--queryformat", "%{NAME} %{VERSION} %{ARCH} %{LICENSE} %{BUILDTIME}", rpm), "waymark 1.2.3~rc.1 "+machine+" Apache-2.0 1750000000"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	output(t, "rpm", "--checksig", "--nosignature", rpm)
	apks, err := filepath.Glob(filepath.Join(dist(t), "*_"+machine+".apk"))
	if err != nil || len(apks) != 1 {
		t.Fatal(apks, err)
	}
	contains(t, output(t, "tar", "-t", "-z", "--ignore-zeros", "-f", apks[0]), append(want, "/.PKGINFO"), "/")
}

// contains compares the lines of a listing, after a prefix, with the paths that it must have.
func contains(t *testing.T, listing string, want []string, prefix string) {
	t.Helper()
	has := map[string]bool{}
	for line := range strings.Lines(listing) {
		has[prefix+strings.TrimSpace(line)] = true
	}
	for _, path := range want {
		if !has[path] {
			t.Errorf("no %s in\n%s", path, listing)
		}
	}
}
