package e2e

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// perfRecord is a running perf record.
type perfRecord struct {
	cmd         *exec.Cmd
	cache, data string
	provider    string
	stderr      lockedBuffer
}

// recordPerf starts one as its users do: perf's own copy of the notes, then events of the kernel.
func recordPerf(t *testing.T, path string, pid int, markers []string) *perfRecord {
	t.Helper()
	peer.KernelEvents(t)
	p := &perfRecord{cache: t.TempDir()}
	p.data = filepath.Join(p.cache, "perf.data")
	perf(t, p.cache, "buildid-cache", "--add", path)
	p.provider, _, _ = strings.Cut(markers[0], ":")
	forget := func() {
		exec.Command("perf", "--buildid-dir", p.cache, "probe", "-q", "-d", "sdt_"+p.provider+":*").Run()
	}
	forget() // of a run that was killed
	t.Cleanup(forget)
	add := []string{"probe", "-q"}
	for _, m := range markers {
		add = append(add, "-a", "sdt_"+m)
	}
	perf(t, p.cache, add...)

	args := []string{"--buildid-dir", p.cache, "record", "-q", "-o", p.data, "-e", "sdt_" + p.provider + ":*", "-D", "-1", "--control", "fd:3,4"}
	if pid == 0 {
		args = append(args, "-a")
	} else {
		args = append(args, "-p", fmt.Sprint(pid))
	}
	p.cmd = exec.Command("perf", args...)
	p.cmd.Stderr = &p.stderr
	commands, control, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, answer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer answers.Close()
	p.cmd.ExtraFiles = []*os.File{commands, answer}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { control.Close(); p.cmd.Process.Kill(); p.cmd.Wait() })
	commands.Close()
	answer.Close()
	answers.SetReadDeadline(time.Now().Add(2 * time.Minute))
	io.WriteString(control, "enable\n")
	if _, err := io.ReadFull(answers, make([]byte, len("ack\n"))); err != nil {
		t.Fatalf("perf record does not begin: %v\n%s", err, p.stderr.String())
	}
	return p
}

// sample is a line of perf script: where, and the arguments. A marker of several sites has
// events with numbers behind their names.
var sample = regexp.MustCompile(`(?m)^\s*sdt_(\w+):(\w+?)(?:_\d+)?:\s*\([0-9a-f]+\)[ \t]*(.*)$`)

func (p *perfRecord) stop(t *testing.T) (hits []hit) {
	t.Helper()
	p.cmd.Process.Signal(os.Interrupt)
	p.cmd.Wait() // it ends by the signal that it was sent
	for _, m := range sample.FindAllStringSubmatch(perf(t, p.cache, "script", "-i", p.data, "-F", "event,trace"), -1) {
		h := hit{marker: m[1] + ":" + m[2]}
		for _, arg := range strings.Fields(m[3]) {
			_, value, _ := strings.Cut(arg, "=")
			h.args = append(h.args, value)
		}
		hits = append(hits, h)
	}
	return hits
}
