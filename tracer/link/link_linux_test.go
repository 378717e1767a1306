package link_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/link"
)

// matrix is every way of building that link promises to take.
func matrix(t *testing.T) (configs []gobuild.Config) {
	for _, v := range gobuild.Versions {
		for _, pie := range []bool{false, true} {
			for _, strip := range []bool{false, true} {
				configs = append(configs, gobuild.Config{Go: v, PIE: pie, Strip: strip})
			}
		}
	}
	if testing.Short() {
		return configs
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Log("no gcc: external links are not tried")
		return configs
	}
	return append(configs,
		gobuild.Config{External: true}, gobuild.Config{PIE: true, External: true, Strip: true}, gobuild.Config{Race: true},
		gobuild.Config{Go: gobuild.Versions[0], External: true}, gobuild.Config{Go: gobuild.Versions[0], Race: true})
}

func needLinux(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("links x86-64 Linux programs that it builds itself")
	}
}

// want is what every build of allkinds must list: name, field names and types, operands.
var want = [][2]string{
	{"allkinds-or-main:unnamed_provider value int", "-8@0(%rax)"},
	{"kinds:address u uintptr, p unsafe.Pointer", "8@0(%rax) 8@8(%rax)"},
	{"kinds:eight s string, n main.status, yes bool, f float64, u uint8, h int16, raw []uint8, p unsafe.Pointer",
		"8@0(%rax) -8@8(%rax) -4@16(%rax) 1@20(%rax) 8@24(%rax) 1@32(%rax) -2@34(%rax) 8@40(%rax) -8@48(%rax) 8@64(%rax)"},
	{"kinds:floats f32 float32, f64 float64, yes bool", "4@0(%rax) 8@8(%rax) 1@16(%rax)"},
	{"kinds:named status main.status, label main.label, blob main.blob", "-4@0(%rax) 8@8(%rax) -8@16(%rax) 8@24(%rax) -8@32(%rax)"},
	{"kinds:none ", ""},
	{"kinds:signed i int, i8 int8, i16 int16, i32 int32, i64 int64", "-8@0(%rax) -1@8(%rax) -2@10(%rax) -4@12(%rax) -8@16(%rax)"},
	{"kinds:strung phase marker.Text[main.phase], n int, quoted marker.Text[main.quoted]", "8@0(%rax) -8@8(%rax) -8@16(%rax) 8@24(%rax) -8@32(%rax)"},
	{"kinds:texts s string, b []uint8", "8@0(%rax) -8@8(%rax) 8@16(%rax) -8@24(%rax)"},
	{"kinds:unsigned u uint, u8 uint8, u16 uint16, u32 uint32, u64 uint64", "8@0(%rax) 1@8(%rax) 2@10(%rax) 4@12(%rax) 8@16(%rax)"},
}

func TestLinkMatrix(t *testing.T) {
	needLinux(t)
	for _, c := range matrix(t) {
		t.Run(c.String(), func(t *testing.T) {
			path := gobuild.Build(t, c, "testdata/allkinds")
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, 0o751); err != nil {
				t.Fatal(err)
			}
			report, err := link.File(path, "", link.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkReport(t, path, report)
			checkLoadedPart(t, path, before)
			if info, err := os.Stat(path); err != nil || info.Mode() != 0o751 {
				t.Errorf("mode %v, %v; want it kept", info.Mode(), err)
			}
			if out, err := exec.Command(path, "-n", "3").CombinedOutput(); err != nil || string(out) != "ready\nmarked 3\n" {
				t.Errorf("running it: %v, output %q", err, out)
			}
			again, err := link.File(path, "", link.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !again.Unchanged {
				t.Error("linking again changed the file")
			}
		})
	}
}

func checkReport(t *testing.T, path string, r *link.Report) {
	t.Helper()
	f, err := sdt.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Problems) > 0 {
		t.Errorf("problems with the notes: %v", f.Problems)
	}
	args := make(map[string]string)
	for _, s := range f.Sites {
		if s.CounterOffset == 0 {
			t.Errorf("%s:%s has no counter", s.Provider, s.Name)
		}
		args[s.Provider+":"+s.Name] = s.Args
	}
	var got [][2]string
	for _, m := range r.Markers {
		var fields []string
		for _, f := range m.Fields {
			fields = append(fields, f.Name+" "+f.Type)
		}
		got = append(got, [2]string{m.Name + " " + strings.Join(fields, ", "), args[m.Name]})
		if len(m.Sites) == 0 {
			t.Errorf("%s has no sites", m.Name)
		}
	}
	sortRows(got)
	for i := range got {
		got[i][0] = strings.Replace(got[i][0], "main:unnamed", "allkinds-or-main:unnamed", 1)
	}
	sortRows(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("markers (-want +got)\n%s", d)
	}
}

func sortRows(rows [][2]string) {
	for i := range rows {
		for j := i; j > 0 && rows[j][0] < rows[j-1][0]; j-- {
			rows[j], rows[j-1] = rows[j-1], rows[j]
		}
	}
}

// checkLoadedPart compares what is loaded with what was: only the stubs' words may differ.
func checkLoadedPart(t *testing.T, path string, before []byte) {
	t.Helper()
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(before))
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		for i := p.Off; i < p.Off+p.Filesz; i += 8 {
			if i < 64 { // the ELF header says where the sections are
				continue
			}
			end := min(i+8, p.Off+p.Filesz)
			if !bytes.Equal(before[i:end], after[i:end]) {
				changed++
				if p.Flags&elf.PF_W == 0 {
					t.Fatalf("byte 0x%x of a segment that is not data changed", i)
				}
			}
		}
	}
	if changed != len(want) {
		t.Errorf("%d words of data changed, want %d: one in each marker", changed, len(want))
	}
}

// No marker gets the types of another, whatever addresses are in registers around its sites.
func TestLinkTypes(t *testing.T) {
	needLinux(t)
	want := map[string]string{
		"tricky:direct": "int32", "tricky:pointed": "int64", "tricky:first": "int8 string",
		"tricky:second": "uint16 float64", "tricky:generic": "uint32", "tricky:took": "time.Duration time.Duration main.delay",
	}
	configs := []gobuild.Config{{}, {Go: gobuild.Versions[0], PIE: true, Strip: true}}
	if !testing.Short() {
		configs = append(configs, gobuild.Config{Race: true}, gobuild.Config{Go: gobuild.Versions[0]}, gobuild.Config{PIE: true})
	}
	for _, c := range configs {
		t.Run(c.String(), func(t *testing.T) {
			r, err := link.File(gobuild.Build(t, c, "testdata/tricky"), "", link.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range r.Markers {
				var types []string
				for _, f := range m.Fields {
					types = append(types, f.Type)
				}
				if m.Name == "tricky:took" && (m.Fields[0].Kind != event.Duration || m.Fields[1].Kind != event.Int64 || m.Fields[2].Kind != event.Int64) {
					t.Errorf("%s has kinds %v, %v and %v", m.Name, m.Fields[0].Kind, m.Fields[1].Kind, m.Fields[2].Kind)
				}
				if got := strings.Join(types, " "); want[m.Name] != "" && got != want[m.Name] {
					t.Errorf("%s has types %q, want %q", m.Name, got, want[m.Name])
				}
			}
			if !strings.Contains(strings.Join(r.Warnings, "\n"), "tricky:unused") {
				t.Errorf("no warning about the marker that is never marked: %q", r.Warnings)
			}
		})
	}
}

// In a function that is too long to inline into, sites are calls, and link says so.
func TestLinkLongFunction(t *testing.T) {
	needLinux(t)
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("package main\n\nimport \"github.com/waymark-trace/waymark/marker\"\n\nvar long = marker.New1[int](\"long:mark\", \"n %d\")\n\nfunc main() {\n\tn := 0\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "\tif n == %d {\n\t\tn += %d\n\t}\n", i, i+1)
	}
	b.WriteString("\tlong.Mark(n)\n}\n")
	overlay := gobuild.Overlay(t, dir, "testdata/nomarkers/main.go", b.String())
	r, err := link.File(gobuild.Build(t, gobuild.Config{Flags: []string{overlay}}, "testdata/nomarkers"), "", link.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m := r.Markers[0]; len(m.Sites) != 1 || !m.Sites[0].Call || len(m.Fields) != 1 {
		t.Errorf("marker %+v, want one site, a call, and its field", m)
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "main.main calls Mark once") {
		t.Errorf("warnings %q do not mention the call", r.Warnings)
	}
}

// A file's capabilities and attributes survive, and so does what it is a link to.
func TestLinkKeepsAttributes(t *testing.T) {
	needLinux(t)
	path := gobuild.Build(t, gobuild.Config{}, "testdata/allkinds")
	if err := syscall.Setxattr(path, "user.waymark", []byte("kept"), 0); err != nil {
		t.Skipf("this file system has no extended attributes: %v", err)
	}
	alias := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(path, alias); err != nil {
		t.Fatal(err)
	}
	if _, err := link.File(alias, "", link.Options{}); err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 16)
	if n, err := syscall.Getxattr(path, "user.waymark", value); err != nil || string(value[:n]) != "kept" {
		t.Errorf("attribute is %q, %v", value[:n], err)
	}
	if to, err := os.Readlink(alias); err != nil || to != path {
		t.Errorf("the symbolic link points to %q, %v", to, err)
	}
}

// What is no file is never replaced: not a pipe, not the null device that root could rename over.
func TestLinkReplacesFilesOnly(t *testing.T) {
	needLinux(t)
	path := gobuild.Build(t, gobuild.Config{}, "testdata/allkinds")
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := link.File(path, pipe, link.Options{}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a pipe: %v", err)
	}
	if info, err := os.Stat(pipe); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("the pipe is %v, %v", info, err)
	}
	if report, err := link.File(path, os.DevNull, link.Options{}); err != nil || len(report.Markers) == 0 {
		t.Errorf("%s: %+v, %v", os.DevNull, report, err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().Type() != os.ModeDevice|os.ModeCharDevice {
		t.Errorf("%s is %v, %v", os.DevNull, info, err)
	}
}

func TestLinkRefuses(t *testing.T) {
	needLinux(t)
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := gobuild.Build(t, gobuild.Config{}, "testdata/allkinds")
	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	patched := func(off int, b ...byte) []byte {
		d := bytes.Clone(data)
		copy(d[off:], b)
		return d
	}
	version := bytes.Clone(data)
	for i := 0; ; {
		j := bytes.Index(version[i:], []byte("\x01waymark"))
		if j < 0 {
			break
		}
		i += j
		version[i-markerabi.OffMagic+markerabi.OffVersion] = 99
		i++
	}
	for _, tt := range []struct {
		name string
		path string
		want error
		text string
	}{
		{"empty", write("empty", nil), link.ErrNotELF, ""},
		{"text", write("text", []byte("#!/bin/sh\n")), link.ErrNotELF, ""},
		{"directory", dir, link.ErrNotELF, "not a regular file"},
		{"missing", filepath.Join(dir, "missing"), os.ErrNotExist, ""},
		{"not Go", "/bin/true", link.ErrNotGo, ""},
		{"no markers", gobuild.Build(t, gobuild.Config{}, "testdata/nomarkers"), link.ErrNoMarkers, ""},
		{"unoptimized", gobuild.Build(t, gobuild.Config{Flags: []string{"-gcflags=all=-N -l"}}, "testdata/allkinds"), link.ErrMadeLate, "markers are made while the program runs"},
		{"not inlined", gobuild.Build(t, gobuild.Config{Strip: true, Flags: []string{"-gcflags=-l"}}, "testdata/late"), link.ErrMadeLate,
			": 5 markers are made while the program runs, where no tracer sees them (main.go:14, main.go:15, main.go:16, …)"},
		{"arm64", write("arm64", patched(18, 183)), link.ErrArchitecture, "EM_AARCH64"},
		{"relocatable", write("rel", patched(16, 1)), link.ErrNotExecutable, "ET_REL"},
		{"another version", write("version", version), link.ErrVersion, "layout 99"},
		{"no sections", write("sstrip", patched(58, 0, 0, 0, 0, 0, 0)), nil, ""},
		{"wrong format", gobuild.Build(t, gobuild.Config{}, "testdata/wrong"), link.ErrMarker, `marker "wrong:verb": format "n %s": %s cannot print field n, which is int; try %d`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := link.File(tt.path, "", link.Options{})
			if err == nil {
				t.Fatal("linked")
			}
			if tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %q, want %v and %q in it", err, tt.want, tt.text)
			}
			if !strings.Contains(err.Error(), tt.path) {
				t.Errorf("error %q does not name the file", err)
			}
		})
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}
}
