package sdt

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/peer"
)

const postgres = "/usr/lib/postgresql/15/bin/postgres"

func run(t testing.TB, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(peer.Need(t, program)[0], args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return string(out)
}

var (
	readelfNote = regexp.MustCompile(`(?s)Provider: (\S+)\s+Name: (\S+)\s+Location: (\w+), Base: (\w+), Semaphore: (\w+)\s+Arguments: ([^\n]*)`)
	readelfID   = regexp.MustCompile(`Build ID: (\w+)`)
)

// readelf returns the notes as binutils reads them.
func readelf(t testing.TB, path string) (notes []Note, buildID string) {
	t.Helper()
	out := run(t, "", "readelf", "-n", "-W", path)
	addr := func(s string) Addr {
		n, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		return Addr(n)
	}
	for _, m := range readelfNote.FindAllStringSubmatch(out, -1) {
		notes = append(notes, Note{m[1], m[2], addr(m[3]), addr(m[4]), addr(m[5]), strings.TrimSpace(m[6])})
	}
	if m := readelfID.FindStringSubmatch(out); m != nil {
		buildID = m[1]
	}
	return notes, buildID
}

// compareReadelf checks every note of a file against readelf, and its places against the section
// headers, as perf computes them: an independent way from the program headers we use.
func compareReadelf(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Problems) > 0 {
		t.Errorf("%s: %v", path, f.Problems)
	}
	want, buildID := readelf(t, path)
	var got []Note
	for _, s := range f.Sites {
		got = append(got, s.Note)
	}
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%s: got %d notes, readelf %d\n got %+v\nwant %+v", path, len(got), len(want), got, want)
	}
	if f.BuildID != buildID {
		t.Errorf("%s: got build id %q, want %q", path, f.BuildID, buildID)
	}

	e, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, probes := e.Section(".text"), e.Section(".probes")
	for _, s := range f.Sites {
		if uint64(s.Location) >= text.Addr && uint64(s.Location) < text.Addr+text.Size {
			if want := Offset(uint64(s.Location) - text.Addr + text.Offset); s.Offset != want {
				t.Errorf("%s: %s at offset %#x, want %#x", path, s.Name, s.Offset, want)
			}
		}
		if data[s.Offset] != 0x90 {
			t.Errorf("%s: %s at offset %#x is on %#x, not on a nop", path, s.Name, s.Offset, data[s.Offset])
		}
		var counter Offset
		if s.Semaphore != 0 {
			counter = Offset(uint64(s.Semaphore) - probes.Addr + probes.Offset)
		}
		if s.CounterOffset != counter {
			t.Errorf("%s: counter of %s at offset %#x, want %#x", path, s.Name, s.CounterOffset, counter)
		}
		for _, o := range s.Operands {
			checkOperand(t, o)
		}
	}
	return f
}

func needFile(t testing.TB, pattern string) string {
	t.Helper()
	if found, _ := filepath.Glob(pattern); len(found) > 0 {
		return found[0]
	}
	return peer.Need(t, pattern)[0]
}

func TestPostgres(t *testing.T) {
	path := needFile(t, postgres)
	f := compareReadelf(t, path)
	if len(f.Sites) != 71 {
		t.Errorf("%d sites, want 71", len(f.Sites))
	}
	e, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	dynamic, err := e.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	address := map[string]int64{}
	for _, s := range dynamic {
		address[s.Name] = int64(s.Value)
	}
	symbols := 0
	for _, s := range f.Sites {
		if s.CounterOffset == 0 {
			t.Errorf("%s has no counter", s.Name)
		}
		for _, o := range s.Operands {
			if o.Kind == Unreadable {
				t.Errorf("%s: %v", s.Name, o.Err)
			}
			if o.Symbol == "" {
				continue
			}
			symbols++
			head := strings.TrimSuffix(strings.TrimPrefix(o.Text, "-4@"), o.Symbol+"(%rip)")
			plus, _ := strconv.ParseInt(strings.TrimSuffix(head, "+"), 10, 64)
			if got, want := int64(s.Address)+o.Disp, address[o.Symbol]+plus; o.Base != PC || got != want {
				t.Errorf("%s: %s at %#x, want %#x", s.Name, o.Text, got, want)
			}
		}
	}
	if symbols != 6 {
		t.Errorf("%d operands name symbols, want 6", symbols)
	}
}

func TestLibstdcxx(t *testing.T) {
	path := needFile(t, "/usr/lib/*/libstdc++.so.6")
	if f := compareReadelf(t, path); len(f.Sites) != 3 {
		t.Errorf("%d sites, want 3", len(f.Sites))
	}
}

func TestSmallFiles(t *testing.T) {
	for _, name := range []string{"exec64", "exec32", "stripped64"} {
		if f := compareReadelf(t, "testdata/elf/"+name); len(f.Sites) != 2 {
			t.Errorf("%s: %d sites", name, len(f.Sites))
		}
	}
}

// The compiler decides the operand forms: build one program in several ways.
func TestCompiled(t *testing.T) {
	peer.Header(t, "sys/sdt.h")
	gcc, dir := peer.Need(t, "gcc")[0], t.TempDir()
	source, err := filepath.Abs("testdata/tiny.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"-O0 -no-pie", "-O1 -fPIE -pie", "-O2 -no-pie -static", "-O2 -fPIE -pie -Wl,-z,separate-code", "-O3 -fPIC -shared"} {
		path := filepath.Join(dir, strings.ReplaceAll(flags, " ", ""))
		run(t, "", gcc, append(strings.Fields(flags), "-nostdlib", "-o", path, source)...)
		f := compareReadelf(t, path)
		if len(f.Sites) < 2 {
			t.Errorf("%s: %d sites", flags, len(f.Sites))
		}
		for _, s := range f.Sites {
			want := []string{"int64", "int8", "float64", "int32"}
			if s.Name == "one" {
				want = []string{"int32", "uint32"}
			}
			for i, o := range s.Operands {
				if i >= len(want) || o.TypeName() != want[i] || o.Kind == Unreadable {
					t.Errorf("%s: %s: operand %d is %v", flags, s.Name, i, o)
				}
			}
		}
	}
}

// Two C files with a static variable of one name: which one the operand means is not written
// anywhere (libbpf/usdt issue 13).
func TestAmbiguousStatic(t *testing.T) {
	peer.Header(t, "sys/sdt.h")
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		source := "#include <sys/sdt.h>\nstatic volatile char ti; void " + name + "(void) { STAP_PROBE1(dup, " + name + ", ti); }\n"
		if name == "a" {
			source += "char once; void b(void); int main(void) { a(); b(); STAP_PROBE1(dup, once, once); }\n"
		}
		if err := os.WriteFile(filepath.Join(dir, name+".c"), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "gcc", "-O1", "-o", "dup", "a.c", "b.c")
	f, err := Open(filepath.Join(dir, "dup"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Sites {
		o := s.Operands[0]
		if s.Name == "once" && o.Kind == Unreadable {
			t.Errorf("once: %v", o)
		}
		if s.Name != "once" && strings.Contains(s.Args, "ti(%rip)") &&
			(o.Kind != Unreadable || !strings.Contains(o.Err.Error(), "symbol ti is defined at 2 addresses")) {
			t.Errorf("%s: %v", s.Name, o)
		}
	}
	if len(f.Sites) != 3 {
		t.Errorf("%d sites", len(f.Sites))
	}
}

type valueTest struct {
	text string
	want uint64
	gdb  bool // gdb itself understands the form; one that it does not breaks the whole note; those come last
}

// Operands mean what a debugger reads: at a stop with known contents, gdb evaluates each.
func TestValues(t *testing.T) {
	peer.Need(t, "gcc", "gdb")
	tests := []valueTest{
		{"8@%rax", 0x1122334455667788, true},
		{"4@%eax", 0x55667788, true},
		{"1@%al", 0x88, true},
		{"-1@%al", 0xffffffffffffff88, true},
		{"-4@%ebx", 1<<64 - 3, true},
		{"4@%rbx", 0xfffffffd, true},
		{"-8@%rbx", 1<<64 - 3, true},
		{"2@%r9w", 0x2211, true},
		{"-2@%r13w", 1<<64 - 1, true},
		{"8@-16(%rbp)", 0x0102030405060708, true},
		{"4@-16(%rbp)", 0x05060708, true},
		{"1@-8-4-3(%rbp)", 0x07, true},
		{"-4@-24(%rbp)", 1<<64 - 2, true},
		{"1@-24(%rbp)", 0xfe, true},
		{"8@(%rdx)", 10, true},
		{"8@(%rdx,%rcx,8)", 12, true},
		{"4@8(%rdx,%rcx,8)", 13, true},
		{"8@(%rdx,%rcx,4)", 11, true},
		{"4@$5", 5, true},
		{"-4@$-5", 1<<64 - 5, true},
		{"1@%ah", 0x77, false},
		{"-1@%ah", 0x77, false},
		{"2@-20+4(%rbp)", 0x0708, false},
		{"8f@-32(%rbp)", 0x3ff8000000000000, false},
		{"-4@counted(%rip)", 1<<64 - 77, false},
		{"4@4+counted(%rip)", 78, false},
		{"8@counted-8(%rip)", 13, false},
		{"8@table(,%rcx,8)", 12, false},
		{"8@$0xffffffffffffffff", 1<<64 - 1, false},
	}
	others := slices.IndexFunc(tests, func(v valueTest) bool { return !v.gdb })
	for group := range slices.Chunk(tests[:others], 12) { // gdb has $_probe_arg0 to 11
		checkValues(t, group)
	}
	checkValues(t, tests[others:])
}

func checkValues(t *testing.T, tests []valueTest) {
	t.Helper()
	var args []string
	for _, test := range tests {
		args = append(args, test.text)
	}
	source, err := os.ReadFile("testdata/values.s")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := strings.Replace(string(source), "ARGUMENTS", strings.Join(args, " "), 1)
	if err := os.WriteFile(filepath.Join(dir, "values.s"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "gcc", "-no-pie", "-o", "values", "values.s")
	f, err := Open(filepath.Join(dir, "values"))
	if err != nil || len(f.Sites) != 1 || len(f.Sites[0].Operands) != len(tests) {
		t.Fatalf("got %+v, %v", f, err)
	}
	site := f.Sites[0]
	script := []string{"-nx", "-batch", "-ex", fmt.Sprintf("break *%#x", uint64(site.Address)), "-ex", "run"}
	for i, o := range site.Operands {
		own := debugExpression(t, o)
		peers := own
		if tests[i].gdb {
			peers = fmt.Sprint("$_probe_arg", i)
		}
		script = append(script, "-ex", fmt.Sprintf(`printf "value %%llx %%llx\n", (unsigned long long)%s, (unsigned long long)%s`, own, peers))
	}
	out := run(t, dir, "gdb", append(script, "./values")...)
	values := regexp.MustCompile(`value (\w+) (\w+)`).FindAllStringSubmatch(out, -1)
	if len(values) != len(tests) {
		t.Fatalf("%d values of %d:\n%s", len(values), len(tests), out)
	}
	for i, test := range tests {
		if want := strconv.FormatUint(test.want, 16); values[i][1] != want || values[i][2] != want {
			t.Errorf("%s is %s, to gdb %s, want %s", test.text, values[i][1], values[i][2], want)
		}
	}
}

// debugExpression writes an operand for gdb, as an integer of its size.
func debugExpression(t *testing.T, o Operand) string {
	t.Helper()
	kind := map[int]string{1: "char", 2: "short", 4: "int", 8: "long"}[o.Size]
	if o.Signed {
		kind = "signed " + kind
	} else {
		kind = "unsigned " + kind
	}
	name := func(r Reg) string { return "(unsigned long)$" + r.String() }
	switch o.Kind {
	case Constant:
		return fmt.Sprintf("%dUL", o.Value)
	case Register:
		return fmt.Sprintf("(%s)(%s >> %d)", kind, name(o.Base), o.Shift)
	case Memory:
		place := "0"
		if o.Base != NoReg {
			place = name(o.Base)
		}
		if o.Index != NoReg {
			place += fmt.Sprintf(" + %s * %d", name(o.Index), o.Scale)
		}
		return fmt.Sprintf("*(%s *)(%s + (%d))", kind, place, o.Disp)
	}
	t.Fatalf("%v", o)
	return ""
}

func BenchmarkOpen(b *testing.B) {
	for name, path := range map[string]string{"postgres": postgres, "without": "/bin/sh"} {
		b.Run(name, func(b *testing.B) {
			path := needFile(b, path)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Open(path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
