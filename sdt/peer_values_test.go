package sdt

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

type valueTest struct {
	text string
	want uint64
	gdb  bool // gdb itself understands the form; one that it does not breaks the whole note; those come last
}

// Operands agree with gdb, which evaluates each at a stop with known contents.
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
