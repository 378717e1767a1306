package sdt

import (
	"debug/elf"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDebianOperands reads every operand shape that Debian 12's packages have: testdata/operands.tsv
// has for each an example, the whole argument text it is from, the file and the probe.
func TestDebianOperands(t *testing.T) {
	data, err := os.ReadFile("testdata/operands.tsv")
	if err != nil {
		t.Fatal(err)
	}
	machines := map[string]elf.Machine{"x86_64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "i386": elf.EM_386,
		"armhf": elf.EM_ARM, "ppc64el": elf.EM_PPC64, "s390x": elf.EM_S390}
	rows := map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		f := strings.Split(line, "\t")
		arch, shape, example, args := f[0], f[1], f[2], f[3]
		rows[arch]++
		ops := parseOperands(machines[arch], args)
		if want := len(operandHead.FindAllString(args, -1)); len(ops) != want {
			t.Errorf("%s %q: got %d operands, want %d", arch, args, len(ops), want)
		}
		if arch != "x86_64" && arch != "arm64" {
			continue
		}
		found := false
		for _, o := range ops {
			checkOperand(t, o)
			if o.Kind == Unreadable { // none of the rows has a floating-point register
				t.Errorf("%s %q: %v", arch, args, o.Err)
			}
			if o.Text != example {
				continue
			}
			found = true
			if want := kindOfShape(arch, shape); o.Kind != want || o.Signed != strings.HasPrefix(shape, "-") ||
				o.Float != strings.Contains(shape, "f@") || (o.Symbol != "") != strings.Contains(shape, "SYM") {
				t.Errorf("%s %s: got %+v, want kind %d", arch, shape, o, want)
			}
		}
		if !found {
			t.Errorf("%s %q: no operand %q", arch, args, example)
		}
	}
	for arch, want := range map[string]int{"x86_64": 44, "arm64": 20} {
		if rows[arch] != want {
			t.Errorf("%d rows of %s, want %d", rows[arch], arch, want)
		}
	}
}

// operandHead matches the beginning of every operand that compilers write.
var operandHead = regexp.MustCompile(`(^| )-?[1248]f?@`)

func kindOfShape(arch, shape string) OperandKind {
	_, body, _ := strings.Cut(shape, "@")
	switch {
	case strings.ContainsAny(body, "(["):
		return Memory
	case strings.HasPrefix(body, "$"), arch == "arm64" && strings.Trim(body, "-N") == "":
		return Constant
	}
	return Register
}
