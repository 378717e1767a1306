package killed

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// scenario is a verb, what comes before it, and what must hold after it was killed.
type scenario struct {
	name    string
	prepare func(*one) // nil for nothing
	args    func(*one) []string
	verify  func(*one) // nil for nothing
	files   []string   // patterns of documented files that it may leave
	rings   bool       // rings may stay: the verb is about them
}

// by returns the arguments of a verb that traces the target.
func by(args ...string) func(*one) []string {
	return func(c *one) []string {
		all := []string{args[0], "-p", c.pid}
		return append(all, args[1:]...)
	}
}

const kernel, agent = "--engine=kernel", "--engine=agent"

var scenarios = []scenario{
	{name: "stat", args: by("stat", kernel, "-d", "30ms")},
	{name: "stat-file", args: func(c *one) []string { return []string{"stat", kernel, "-d", "30ms", c.path("target")} }},
	{name: "stat-follow", args: by("stat", kernel, "--follow", "-d", "30ms")},
	{name: "stat-by", args: by("stat", kernel, "-d", "30ms", "--by", "tid")},
	{name: "trace", args: by("trace", kernel, "-n", "5")},
	{name: "latency", args: by("latency", kernel, "-d", "30ms", "killed:begin", "killed:end")},
	{name: "record", args: by("record", kernel, "-n", "20", "-o", "trace"), verify: wholeTrace, files: []string{"trace"}},
	{name: "stat-agent", args: by("stat", agent, "-d", "30ms")},
	{name: "trace-agent", args: by("trace", agent, "-n", "5")},
	{name: "record-agent", args: by("record", agent, "-n", "20", "-o", "trace"), verify: wholeTrace, files: []string{"trace"}},
	{name: "record-flight", args: by("record", "--flight", "1M", "--session", "box"), verify: endSessions},
	{name: "snapshot", prepare: record, args: by("snapshot", "-o", "trace", "box"), files: []string{"trace"}, verify: func(c *one) {
		wholeTrace(c)
		endSessions(c)
	}},
	{name: "recover", prepare: recordAndDie, args: by("recover", "-o", "trace", "box"), files: []string{"trace", "again"}, rings: true, verify: recoverable},
	{name: "recover-remove", prepare: recordAndDie, args: by("recover", "--remove", "-o", "trace", "box"), files: []string{"trace", "again"}, rings: true, verify: recoverable},
	{name: "link", prepare: unlinked, args: func(*one) []string { return []string{"link", "program"} }, files: linkFiles, verify: linkedOrNot},
	{name: "link-o", prepare: unlinked, args: func(*one) []string { return []string{"link", "-o", "out", "program"} }, files: linkFiles, verify: linkedOrNot},
	{name: "probe-add", args: func(c *one) []string { return []string{"probe", "add", c.path("target")} }, verify: noEvents},
	{name: "probe-del", prepare: func(c *one) { c.needs("probe", "add", c.path("target")) },
		args: func(*one) []string { return []string{"probe", "del", "sdt_killed:*"} }, verify: noEvents},
}

// linkFiles are what link makes: its result, and until that has its name a file that docs/security.md names.
var linkFiles = []string{"program", "out", ".program.link*", ".out.link*"}

// wholeTrace makes sure that what is there of a trace can be read: a trace is valid at any moment, from its metadata on. Before that the
// directory has nothing but the beginning of the metadata, under another name.
func wholeTrace(c *one) {
	if _, err := os.Stat(c.path("trace/metadata")); err == nil {
		c.needs("report", "trace")
		return
	}
	left, err := filepath.Glob(c.path("trace/*"))
	c.must(err)
	if len(left) > 1 || len(left) == 1 && filepath.Base(left[0]) != ".metadata.new" {
		c.t.Errorf("a trace without metadata has %q", left)
	}
}

func record(c *one) {
	c.needs("record", "-p", c.pid, "--flight", "1M", "--session", "box")
	c.eventually("the target is armed", func() bool { return c.target.Ask("look") == "armed true" })
}

// endSessions ends the recording that outlives waymark.
func endSessions(c *one) {
	if out := c.needs("sessions"); strings.Contains(out, "box") {
		c.needs("sessions", "stop", "-p", c.pid, "box")
	}
}

func recordAndDie(c *one) {
	record(c)
	c.must(c.target.Cmd.Process.Kill())
	_ = c.target.Cmd.Wait()
	c.dead = true
}

// recoverable makes sure that the ring can still be recovered, or that its trace is complete.
func recoverable(c *one) {
	rings, err := filepath.Glob(c.path("run/waymark/*/*.ring"))
	c.must(err)
	if len(rings) == 0 {
		if n := strings.Count(c.needs("report", "trace"), "\n"); n == 0 {
			c.t.Error("the ring was removed, and the trace has no events")
		}
		return
	}
	wholeTrace(c)
	c.needs("recover", "-p", c.pid, "-o", "again", "box")
	if n := strings.Count(c.needs("report", "again"), "\n"); n == 0 {
		c.t.Error("nothing could be recovered again")
	}
}

func unlinked(c *one) { c.copy(c.plain, "program") }

// linkedOrNot makes sure that each file is either what it was, or the linked program.
func linkedOrNot(c *one) {
	plain, err := os.ReadFile(c.plain)
	c.must(err)
	linked, err := os.ReadFile(c.linked)
	c.must(err)
	for _, name := range []string{"program", "out"} {
		data, err := os.ReadFile(c.path(name))
		if name == "out" && os.IsNotExist(err) {
			continue
		}
		c.must(err)
		if !bytes.Equal(data, linked) && (name == "out" || !bytes.Equal(data, plain)) {
			c.t.Errorf("%s is neither what it was nor linked: %d bytes, %d and %d", name, len(data), len(plain), len(linked))
		}
		if info, err := os.Stat(c.path(name)); err != nil || info.Mode() != 0o700 {
			c.t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
		}
	}
	c.needs("link", "program") // and nothing is in the way of another
}

// noEvents makes sure that what was defined is listed and can be deleted.
func noEvents(c *one) {
	if out := c.needs("probe", "list"); strings.Contains(out, "sdt_killed:") {
		c.needs("probe", "del", "sdt_killed:*")
	}
	if out := c.needs("probe", "list"); strings.Contains(out, "sdt_killed:") {
		c.t.Errorf("events are left:\n%s", out)
	}
}
