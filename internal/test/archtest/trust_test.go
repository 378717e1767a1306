package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fakeCampaign stands for go, which builds a test that counts three marks for each seed and finds seed 7 violated.
const fakeCampaign = `#!/bin/bash
while [[ $1 != -o ]]; do shift || exit; done
cat >"$2" <<'END'
#!/bin/bash
[[ $* != *TestBuild* ]] || exit 0
status=0
for ((seed = ${WAYMARK_SEEDS%..*}; seed <= ${WAYMARK_SEEDS#*..}; seed++)); do
	echo "    history_linux_test.go:1: totals: 15 s, 3 marks, 1 Go"
	((seed != 7)) || { echo "    --- FAIL: TestHistory/7 (0.00s)"; status=1; }
done
exit $status
END
chmod +x "$2"
`

// TestTrust runs scripts/trust with a campaign that is no test: its totals are in the log, and the next run goes on after it.
func TestTrust(t *testing.T) {
	tr, bin := copyTree(t), t.TempDir()
	log := filepath.Join(tr.dir, "docs", "trust.log")
	for name, text := range map[string]string{
		filepath.Join(bin, "go"):  fakeCampaign,
		filepath.Join(bin, "git"): "#!/bin/bash\n[[ $1 != rev-parse ]] || echo 0123456789ab\n",
		log:                       "",
	} {
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("WAYMARK_TRUST_BATCH", "3")
	path := bin + ":" + os.Getenv("PATH")
	for _, tt := range []struct {
		args []string
		fail bool
		want string // a pattern of the line in the log, after its date; "" for none
	}{
		{[]string{"--seeds", "0..4", "history"}, false, `^0123456789ab\thistory\t0\.\.4\t5\t0\t75 s, 15 marks, 5 Go\n$`},
		{[]string{"--hours", "0.0003", "history"}, true, `^0123456789ab\thistory\t5\.\.\d+\t\d+\t1\t\d+ s, \d+ marks, \d+ Go\n$`},
		{[]string{"--seeds", "7"}, true, ""},
		{[]string{"--hours", "1", "--seeds", "1..2"}, true, ""},
		{[]string{"nothing"}, true, ""},
	} {
		before, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		out, err := tr.run(t, path, append([]string{"trust"}, tt.args...)...)
		after, e := os.ReadFile(log)
		if e != nil {
			t.Fatal(e)
		}
		line := strings.TrimPrefix(string(after), string(before))
		if (err != nil) != tt.fail {
			t.Errorf("%q: %v\n%s", tt.args, err, out)
		}
		if _, line, _ := strings.Cut(line, "\t"); !regexp.MustCompile(tt.want).MatchString(line) || (tt.want == "") != (line == "") {
			t.Errorf("%q: the log got %q, want %q\n%s", tt.args, line, tt.want, out)
		}
	}
}
