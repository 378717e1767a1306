package e2e

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// otherForms are notes of many operands, and of some that cannot be read among others that can.
func otherForms() []form {
	const setup = "movq cell+8(%rip), %rax\n leaq cell+8(%rip), %rbx\n movq %rax, %r15"
	many := form{setup: setup}
	for i := range 33 {
		a := arg{text: []string{"8@%rax", "-4@(%rbx)", "1@%ah", "8@cell+8(%rip)", "-2@$-3", "8f@%r15"}[i%6]}
		if i >= 32 {
			a.reason = "more than 32 arguments"
		}
		many.args = append(many.args, a)
	}
	mixed := form{setup: setup}
	for _, bad := range [][2]string{
		{"8f@%xmm0", "which a probe cannot see"}, {"4f@%xmm15", "which a probe cannot see"}, {"8@%fs:-8", "segment register"},
		{"-4@%fs:(%rdx)", "segment register"}, {"-16@%rsi", "a size of 16 bytes"}, {"16f@16(%rbp)", "a size of 16 bytes"}, {"8@", "neither"},
		{"8f@.LC1(%rip)", "label of the compiler's"}, {"4@%r16", "no register"}, {"2@%ah", "has 1 byte"}, {"8@cell@GOTPCREL(%rip)", "not a sum"},
	} {
		mixed.args = append(mixed.args, arg{text: bad[0], reason: bad[1]}, arg{text: "-4@%eax"})
	}
	return []form{many, mixed, {}}
}

// An operand that cannot be read costs its argument only, and list and trace say so and why.
func TestUnavailable(t *testing.T) {
	peer.Root(t)
	all := otherForms()
	path := buildForms(t, peer.Need(t, "gcc")[0], "-pie", all)
	mixed := all[1]

	list := run(t, waymark(t), "list", "-v", path, "forms:f1")
	for i, a := range mixed.args {
		said := regexp.MustCompile(`(?m)^    arg` + strconv.Itoa(i+1) + ` has no value: .*` + regexp.QuoteMeta(a.reason)).MatchString(list)
		if said != (a.reason != "") {
			t.Errorf("argument %d, %q: list -v says\n%s", i+1, a.text, list)
		}
	}

	var m struct {
		Fields []struct{ Name, Type, Unavailable string }
		Sites  []struct{ Unavailable map[string]string }
	}
	if err := json.Unmarshal([]byte(run(t, waymark(t), "list", "--json", path, "forms:f1")), &m); err != nil {
		t.Fatal(err)
	}
	for i, a := range mixed.args {
		f := m.Fields[i]
		if !strings.Contains(f.Unavailable, a.reason) || (f.Unavailable == "") != (a.reason == "") || m.Sites[0].Unavailable[f.Name] != f.Unavailable {
			t.Errorf("argument %d, %q: JSON says %+v, %v", i+1, a.text, f, m.Sites)
		}
	}

	out, err := exec.Command(waymark(t), "trace", "-n", "3", "forms:f1", "--", path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	events := regexp.MustCompile(`forms:f1  (arg1=.*)`).FindAllStringSubmatch(string(out), -1)
	if len(events) != 3 {
		t.Fatalf("%d events:\n%s", len(events), out)
	}
	for n, ev := range events {
		for i, word := range strings.Fields(ev[1]) {
			want := "arg" + strconv.Itoa(i+1) + "=" + strconv.Itoa(n) // the first patterns are 0, 1, 2
			if mixed.args[i].reason != "" {
				want = "arg" + strconv.Itoa(i+1) + "=<unavailable>"
			}
			if word != want {
				t.Errorf("event %d: %s, want %s", n, word, want)
			}
		}
	}
}
