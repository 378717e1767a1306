package e2e

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/internal/test/talk"
	"github.com/waymark-trace/waymark/tracer/link"
)

// delve is the release that reads what the newest Go writes; Debian's does not.
const delve = "github.com/go-delve/delve/cmd/dlv@v1.27.2"

// debugged is a running testdata/debugged, with one optimized site.
type debugged struct {
	*talk.Program
	path string
	site uint64
	off  byte // what the site has while off
}

func startDebugged(t *testing.T) *debugged {
	t.Helper()
	d := &debugged{path: gobuild.Build(t, gobuild.Config{}, "testdata/debugged")}
	report, err := link.File(d.path, "", link.Options{Optimize: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Sites) != 1 || !report.Sites[0].Optimized {
		t.Fatalf("sites %+v", report.Sites)
	}
	d.site = report.Sites[0].Address
	cmd := exec.Command(d.path)
	// A signal that comes while gdb steps over its breakpoint returns to it, and gdb counts that once more.
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	d.Program = talk.Start(t, cmd)
	d.expect(t, "pass", "0") // it runs
	d.off = d.code(t)
	return d
}

// expect gives a command and holds the answer against what is wanted, "…" standing for anything.
func (d *debugged) expect(t *testing.T, command, want string) {
	t.Helper()
	answer := d.Ask(command)
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(want), "…", ".*") + "$"
	if !regexp.MustCompile(pattern).MatchString(answer) {
		t.Fatalf("%s: %q: want %q", command, answer, want)
	}
}

// code returns the byte at the site.
func (d *debugged) code(t *testing.T) byte {
	t.Helper()
	return d.byteAt(t, d.site)
}

func (d *debugged) byteAt(t *testing.T, at uint64) byte {
	t.Helper()
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", d.PID()))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	var b [1]byte
	if _, err := mem.ReadAt(b[:], int64(at)); err != nil {
		t.Fatal(err)
	}
	return b[0]
}

// awaitCode waits for a byte at the site.
func (d *debugged) awaitCode(t *testing.T, want byte) {
	t.Helper()
	d.awaitByte(t, d.site, want)
}

func (d *debugged) awaitByte(t *testing.T, at uint64, want byte) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); d.byteAt(t, at) != want; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%#x has %#x, want %#x", at, d.byteAt(t, at), want)
		}
	}
}

const (
	breakpoint = 0xcc
	siteOn     = 0xe9
)

// While a debugger's breakpoint is on a site it is left alone, the program goes on as its site says, and
// arming is refused; once the breakpoint is gone, everything is as it is without.
func TestDebuggersOnOptimizedSite(t *testing.T) {
	for name, attach := range map[string]func(*testing.T, *debugged) (wait func() (stops int)){"gdb": withGDB, "delve": withDelve} {
		t.Run(name, func(t *testing.T) {
			d := startDebugged(t)
			d.expect(t, "pass", "0")
			wait := attach(t, d)
			d.awaitCode(t, breakpoint)
			d.expect(t, "arm", "…somebody else, a debugger perhaps, changed the code…")
			d.expect(t, "pass", "0")
			d.expect(t, "done", "done")
			if n := wait(); n != 10 {
				t.Errorf("stopped %d times, want 10", n)
			}
			d.awaitCode(t, d.off)
			d.expect(t, "arm", "ok")
			d.expect(t, "pass", "10")

			// And on a live one, which is disarmed meanwhile.
			wait = attach(t, d)
			d.awaitCode(t, breakpoint)
			d.expect(t, "pass", "10")
			d.expect(t, "disarm", "ok")
			d.expect(t, "done", "done")
			if n := wait(); n != 10 {
				t.Errorf("stopped %d times, want 10", n)
			}
			d.awaitCode(t, d.off) // by the watcher: its word is zero
			d.expect(t, "pass", "0")
			d.expect(t, "arm", "ok")
			d.awaitCode(t, siteOn)
			d.expect(t, "pass", "10")
		})
	}
}

// delve's breakpoint on the line of a mark is on the prefix of its site's instruction (gdb takes the next statement's
// place); one on an address can be in the operand. Both have arming refused, for a jump is not to be made of what is
// not whole, and neither harms the program.
func TestDebuggersInOptimizedSite(t *testing.T) {
	text, err := os.ReadFile("testdata/debugged/main.go")
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "// a line of its own")
	line := fmt.Sprintf("main.go:%d", 1+strings.Count(before, "\n"))
	for name, attach := range map[string]func(*testing.T, *debugged, string, int) func() int{"gdb": gdbAt, "delve": delveAt} {
		t.Run(name, func(t *testing.T) {
			d := startDebugged(t)
			prefix, operand, line := d.site-1, d.site+2, line
			if name == "gdb" {
				line = fmt.Sprintf("*%#x", prefix)
			}
			was := map[uint64]byte{prefix: d.byteAt(t, prefix), operand: d.byteAt(t, operand)}
			if was[prefix] != markerabi.SitePrefix {
				t.Fatalf("the site begins with %#x", was[prefix])
			}
			for _, c := range []struct {
				where string
				at    uint64
				stops int
			}{{line, prefix, 10}, {fmt.Sprintf("*%#x", operand), operand, 0}} {
				wait := attach(t, d, c.where, c.stops)
				d.awaitByte(t, c.at, breakpoint)
				d.expect(t, "arm", "…somebody else, a debugger perhaps, changed the code…")
				d.expect(t, "pass", "0")
				d.expect(t, "done", "done")
				if n := wait(); n != c.stops {
					t.Errorf("%s: stopped %d times, want %d", c.where, n, c.stops)
				}
				d.awaitByte(t, c.at, was[c.at])
				d.expect(t, "arm", "ok")
				d.expect(t, "pass", "10")
				d.expect(t, "disarm", "ok")
				d.awaitCode(t, d.off)
			}
			// On the line of a live site, which is disarmed meanwhile.
			d.expect(t, "arm", "ok")
			wait := attach(t, d, line, 10)
			d.awaitByte(t, prefix, breakpoint)
			d.expect(t, "pass", "10")
			d.expect(t, "disarm", "ok")
			d.expect(t, "done", "done")
			if n := wait(); n != 10 {
				t.Errorf("stopped %d times, want 10", n)
			}
			d.awaitCode(t, d.off)
			d.expect(t, "pass", "0")
		})
	}
}

// withGDB has gdb sit on the site until the program calls done.
func withGDB(t *testing.T, d *debugged) func() int {
	return gdbAt(t, d, fmt.Sprintf("*%#x", d.site), 10)
}

func gdbAt(t *testing.T, d *debugged, where string, stops int) func() int {
	peer.Need(t, "gdb")
	args := []string{"-batch", "-nx", "-p", fmt.Sprint(d.PID())}
	for _, command := range []string{
		"set pagination off", "break " + where, "ignore 1 1000000", "break main.done", "continue",
		"info breakpoints", "delete", "detach",
	} {
		args = append(args, "-ex", command)
	}
	return debug(t, exec.Command("gdb", args...), stops, func(out string) int {
		m := regexp.MustCompile(`breakpoint\s+already\s+hit\s+(\d+)\s+times`).FindStringSubmatch(out)
		n := 0
		if m != nil {
			fmt.Sscan(m[1], &n)
		}
		return n
	})
}

// dlv returns the path of delve, which is installed once.
func dlv(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(os.TempDir(), "waymark-dlv-"+filepath.Base(delve))
	if _, err := os.Stat(filepath.Join(bin, "dlv")); err != nil {
		install := exec.Command("go", "install", delve)
		install.Dir = t.TempDir()
		install.Env = append(os.Environ(), "GOBIN="+bin, "GOFLAGS=")
		if out, err := install.CombinedOutput(); err != nil {
			peer.Missing(t, fmt.Sprintf("%s from a module proxy: %v\n%s", delve, err, out))
		}
	}
	return filepath.Join(bin, "dlv")
}

// withDelve does so with delve.
func withDelve(t *testing.T, d *debugged) func() int {
	return delveAt(t, d, fmt.Sprintf("*%#x", d.site), 10)
}

func delveAt(t *testing.T, d *debugged, where string, stops int) func() int {
	delve := dlv(t)
	script := filepath.Join(t.TempDir(), "script")
	text := "break site " + where + "\nbreak done main.done\n" + strings.Repeat("continue\n", stops+1) + "clear site\nclear done\n"
	if err := os.WriteFile(script, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(delve, "attach", fmt.Sprint(d.PID()), "--init", script, "--allow-non-terminal-interactive")
	cmd.Stdin = strings.NewReader("exit\nn\n") // it asks whether to kill the process
	return debug(t, cmd, stops, func(out string) int { return len(regexp.MustCompile(`>\s*\[site\]`).FindAllString(out, -1)) })
}

// debug runs a debugger. What it returns waits for its end and counts its stops at the site.
func debug(t *testing.T, cmd *exec.Cmd, stops int, count func(out string) int) func() int {
	t.Helper()
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { cmd.Process.Kill() })
	return func() int {
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%s: %v", cmd.Path, err)
			}
		case <-time.After(3 * time.Minute):
			cmd.Process.Kill()
			<-ended
			t.Errorf("%s does not end", cmd.Path)
		}
		if t.Failed() {
			t.Logf("%s\n%s", cmd.Path, &out)
		}
		n := count(out.String())
		if n != stops {
			t.Logf("%s\n%s", cmd.Path, &out)
		}
		return n
	}
}

// Probes of the kernel right before a site and on its slow path, under perf: neither minds the other.
func TestUprobesBesideOptimizedSite(t *testing.T) {
	peer.Root(t)
	peer.Need(t, "perf")
	d := startDebugged(t)
	file, err := elf.Open(d.path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text := file.Section(".text")
	code := make([]byte, 16)
	if _, err := text.ReadAt(code, int64(d.site-text.Addr)-5); err != nil {
		t.Fatal(err)
	}
	// SUBQ $n, SP; the site with its prefix, whose operand is the distance to the slow path.
	if !bytes.Equal(code[:3], []byte{0x48, 0x83, 0xec}) || code[4] != markerabi.SitePrefix || code[5] != d.off {
		t.Fatalf("the site is laid out otherwise: % x", code)
	}
	offset := text.Offset + d.site - text.Addr
	jump := 5 + uint64(binary.LittleEndian.Uint32(code[6:]))
	group := fmt.Sprintf("waymark_beside_%d", os.Getpid())
	for name, at := range map[string]uint64{"before": offset - 5, "slow": offset + jump} {
		writeTracefs(t, "uprobe_events", fmt.Sprintf("p:%s/%s %s:%#x\n", group, name, d.path, at))
		t.Cleanup(func() { writeTracefs(t, "uprobe_events", fmt.Sprintf("-:%s/%s\n", group, name)) })
	}
	stat := statPerf(t, d.PID(), group+":before", group+":slow")
	const rounds = 20
	for range rounds {
		d.expect(t, "pass", "0")
		d.expect(t, "arm", "ok")
		d.expect(t, "pass", "10")
		d.expect(t, "disarm", "ok")
	}
	want := map[string]int{group + ":before": 20 * rounds, group + ":slow": 10 * rounds}
	if diff := cmp.Diff(want, stat.stop()); diff != "" {
		t.Errorf("perf (-want +counted):\n%s\n%s", diff, stat.out.String())
	}
	d.expect(t, "arm", "ok")
	d.expect(t, "pass", "10")
}
