package e2e

import (
	"archive/zip"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	modulePath    = "github.com/waymark-trace/waymark"
	moduleVersion = "v0.0.1"
)

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
	_, text, found := strings.Cut(string(readme), "In a program of yours:\n\n")
	if !found {
		t.Fatal("README does not say what to do in a program of one's own")
	}
	text, _, _ = strings.Cut(text, "\n\n")

	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program, bin := filepath.Join(dir, "program"), filepath.Join(dir, "bin")
	writeModule(t, filepath.Join(dir, "proxy"))
	main, err := os.ReadFile("../../examples/minimal/main.go")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(program, "cmd/server/main.go"), main)
	writeFile(t, filepath.Join(program, "go.mod"), []byte("module example.org/program\n\ngo 1.25.0\n"))

	cmd := exec.Command("sh", "-exc", text)
	cmd.Dir = program
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "GOBIN="+bin, "GOMODCACHE="+filepath.Join(dir, "cache"),
		"GOPROXY=file://"+filepath.Join(dir, "proxy")+",file://"+filepath.Join(strings.TrimSpace(string(cache)), "cache/download"),
		"GONOSUMDB=*", "GOSUMDB=off", "GOFLAGS=-modcacherw -trimpath", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err = exec.Command(filepath.Join(bin, "waymark"), "list", filepath.Join(program, "server")).CombinedOutput(); err != nil || !strings.Contains(string(out), "http:request_start") {
		t.Errorf("%v\n%s", err, out)
	}
}

// writeModule makes a module proxy of this tree.
func writeModule(t *testing.T, proxy string) {
	t.Helper()
	gomod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	versions := filepath.Join(proxy, modulePath, "@v")
	writeFile(t, filepath.Join(versions, "list"), []byte(moduleVersion+"\n"))
	writeFile(t, filepath.Join(versions, moduleVersion+".info"), []byte(`{"Version":"`+moduleVersion+`"}`))
	writeFile(t, filepath.Join(versions, moduleVersion+".mod"), gomod)
	f, err := os.Create(filepath.Join(versions, moduleVersion+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := zip.NewWriter(f)
	err = filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "../.." && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel("../..", path)
		entry, err := w.Create(modulePath + "@" + moduleVersion + "/" + filepath.ToSlash(rel))
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

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}
