package e2e

import (
	"archive/zip"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const modulePath = "github.com/waymark-trace/waymark"

// What README says to do in a program of one's own works for somebody who has nothing but Go and a
// module proxy.
func TestInstallAsReadmeSays(t *testing.T) {
	t.Parallel() // it compiles, and attaches nothing
	if testing.Short() {
		t.Skip("compiles waymark and all that it needs once more")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(readme), "Install the command, and add the library to a program:\n\n")
	if !found {
		t.Fatal("README has no lines that install")
	}
	text, _, _ = strings.Cut(text, "\n\n")

	dir := t.TempDir()
	program, bin := filepath.Join(dir, "program"), filepath.Join(dir, "bin")
	main, err := os.ReadFile("../../examples/minimal/main.go")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(program, "cmd/server/main.go"), main)
	writeFile(t, filepath.Join(program, "go.mod"), []byte("module example.org/program\n\ngo 1.25.0\n"))

	cmd := exec.Command("sh", "-exc", text)
	cmd.Dir = program
	cmd.Env = append(proxied(t, dir), "PATH="+bin+":"+os.Getenv("PATH"), "GOBIN="+bin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err = exec.Command(filepath.Join(bin, "waymark"), "list", filepath.Join(program, "server")).CombinedOutput(); err != nil || !strings.Contains(string(out), "http:request_start") {
		t.Errorf("%v\n%s", err, out)
	}
}

// modules are what users install or import, by the directory in the tree. Each names the others at one version.
var modules = []string{"", "tracer", "vet", "cmd/waymark"}

// version returns the version at which the modules require each other.
func version(t *testing.T) string {
	t.Helper()
	found := map[string]bool{}
	for _, dir := range modules {
		text, err := os.ReadFile(filepath.Join("../..", dir, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if path, version, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(path, modulePath) {
				found[version] = true
			}
		}
	}
	if len(found) != 1 {
		t.Fatalf("the modules require each other at %d versions: %v", len(found), slices.Collect(maps.Keys(found)))
	}
	for v := range found {
		return v
	}
	panic("unreachable")
}

// proxied makes a module proxy of this tree, and returns the environment of go commands that know no other but
// the module cache. go install refuses replacements, so the modules are found as published ones.
func proxied(t *testing.T, dir string) []string {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range modules {
		writeModule(t, filepath.Join(dir, "proxy"), module)
	}
	return append(os.Environ(), "GOMODCACHE="+filepath.Join(dir, "cache"),
		"GOPROXY=file://"+filepath.Join(dir, "proxy")+",file://"+filepath.Join(strings.TrimSpace(string(cache)), "cache/download"),
		"GONOSUMDB=*", "GOSUMDB=off", "GOFLAGS=-modcacherw -trimpath", "GOWORK=off")
}

// writeModule writes one module into a proxy. A module has no directory that has a go.mod of its own.
func writeModule(t *testing.T, proxy, module string) {
	t.Helper()
	root, path, version := filepath.Join("../..", module), filepath.Join(modulePath, module), version(t)
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	versions := filepath.Join(proxy, path, "@v")
	writeFile(t, filepath.Join(versions, "list"), []byte(version+"\n"))
	writeFile(t, filepath.Join(versions, version+".info"), []byte(`{"Version":"`+version+`"}`))
	writeFile(t, filepath.Join(versions, version+".mod"), gomod)
	f, err := os.Create(filepath.Join(versions, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := zip.NewWriter(f)
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != root {
			if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil || strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir
			}
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, file)
		entry, err := w.Create(path + "@" + version + "/" + filepath.ToSlash(rel))
		if err == nil {
			_, err = entry.Write(data)
		}
		return err
	})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestImporters imports what programs import and compares go.mod and go.sum with what was there: one line for waymark, at
// most one for golang.org/x/sys, and the sums of both.
func TestImporters(t *testing.T) {
	t.Parallel() // it compiles, and attaches nothing
	dir := t.TempDir()
	environment := proxied(t, dir)
	for _, imported := range []string{"marker", "agent", "tracepoint", "sink/stats", "sdt", "ctf"} {
		program := filepath.Join(dir, imported)
		writeFile(t, filepath.Join(program, "main.go"), []byte("package main\n\nimport _ \""+modulePath+"/"+imported+"\"\n\nfunc main() {}\n"))
		writeFile(t, filepath.Join(program, "go.mod"), []byte("module example.org/program\n\ngo 1.25.0\n"))
		for _, args := range [][]string{{"mod", "tidy"}, {"build"}} {
			cmd := exec.Command("go", args...)
			cmd.Dir, cmd.Env = program, environment
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("importing %s, go %v: %v\n%s", imported, args, err, out)
			}
		}
		own, system := 0, 0
		gomod, err := os.ReadFile(filepath.Join(program, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		_, required, _ := strings.Cut(string(gomod), "go 1.25.0\n")
		for line := range strings.Lines(required) {
			switch path, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "require ")), " "); path {
			case modulePath:
				own++
			case "golang.org/x/sys":
				system++
			case "", "(", ")", "require":
			default:
				t.Errorf("importing %s adds to go.mod: %s", imported, line)
			}
		}
		sums, err := os.ReadFile(filepath.Join(program, "go.sum"))
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(sums), "\n"); own != 1 || system > 1 || lines > 4 {
			t.Errorf("importing %s: %d lines for waymark and %d for x/sys in\n%sand %d lines in\n%s", imported, own, system, gomod, lines, sums)
		}
	}
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}
