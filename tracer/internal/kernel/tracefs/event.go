package tracefs

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrNoTracepoint says that the kernel has no tracepoint of a name, which follows.
var ErrNoTracepoint = errors.New("no kernel tracepoint is named")

// Event is one line of uprobe_events: one place. Places of one group and name are one event.
type Event struct {
	Return      bool // it sits at the function's return
	Group, Name string
	Path        string
	Offset      uint64 // of the instruction in the file
	Counter     uint64 // offset of the reference counter in the file, 0 for none
	Args        []string
	Hits        uint64 // since it was defined, of this place
}

// FullName returns the name as perf has it.
func (e *Event) FullName() string { return e.Group + ":" + e.Name }

// Command returns the line that defines the event.
func (e *Event) Command() (string, error) {
	if err := CheckPath(e.Path); err != nil {
		return "", err
	}
	for _, name := range []string{e.Group, e.Name} {
		if name != Name(name, maxName) {
			return "", fmt.Errorf("%q is not a name of an event", name)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "p:%s/%s %s:%#x", e.Group, e.Name, e.Path, e.Offset)
	if e.Counter != 0 {
		fmt.Fprintf(&b, "(%#x)", e.Counter)
	}
	for _, a := range e.Args {
		b.WriteString(" " + a)
	}
	if b.Len() > maxCommand {
		return "", fmt.Errorf("a definition of %d bytes: the kernel takes %d", b.Len(), maxCommand)
	}
	return b.String(), nil
}

const (
	// maxCommand is less than WRITE_BUFSIZE of the kernel's kernel/trace/trace.c.
	maxCommand = 4094
	// maxName is MAX_EVENT_NAME_LEN of kernel/trace/trace.h with its zero byte.
	maxName = 63
	// maxArgName is MAX_ARG_NAME_LEN of kernel/trace/trace_probe.h with its zero byte.
	maxArgName = 31
	// MaxArgs is MAX_TRACE_ARGS of the same file.
	MaxArgs = 128
)

// CheckPath refuses what a definition cannot hold. The kernel splits it where its isspace is
// true, which includes byte 0xa0 (lib/ctype.c) and so some of UTF-8, and drops what follows
// a # (trace_parse_run_command). Colons and parentheses are fine: it looks for the last colon.
func CheckPath(path string) error {
	if !strings.HasPrefix(path, "/") {
		return fmt.Errorf("path %q is not absolute", path)
	}
	for i := range len(path) {
		switch c := path[i]; {
		case c == ' ', c >= '\t' && c <= '\r', c == 0xa0:
			return fmt.Errorf("path %q has a byte %#02x at which the kernel would split the definition: %w", path, c, ErrPath)
		case c == '#', c == 0:
			return fmt.Errorf("path %q has a %q at which the kernel would end the definition: %w", path, c, ErrPath)
		}
	}
	return nil
}

// ErrNotMounted says that tracefs is nowhere to be found.
var ErrNotMounted = errors.New("tracefs is not mounted")

// ErrPath says that a path cannot be written to tracefs; a symbolic link to it may.
var ErrPath = errors.New("no event can have it")

// Name makes a name of at most limit bytes that the kernel takes (is_good_name,
// kernel/trace/trace_probe.h): other characters become _.
func Name(s string, limit int) string {
	b := []byte(s[:min(len(s), limit)])
	for i, c := range b {
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			b[i] = '_'
		}
	}
	if len(b) == 0 || b[0] >= '0' && b[0] <= '9' {
		b = append([]byte{'_'}, b[:min(len(b), limit-1)]...)
	}
	return string(b)
}

// EventNames returns group and name of the n-th event of a marker, as perf names them:
// synthesize_sdt_probe_command, tools/perf/util/probe-file.c, and get_new_event_name for more.
func EventNames(provider, name string, n int) (string, string) {
	group := Name("sdt_"+provider, maxName)
	if n == 0 {
		return group, Name(name, maxName)
	}
	suffix := "_" + strconv.Itoa(n)
	return group, Name(name, maxName-len(suffix)) + suffix
}

var errLine = errors.New("not p:group/event path:offset(counter) arguments")

// parseEvent reads one line as probes_seq_show, kernel/trace/trace_uprobe.c, writes it.
func parseEvent(line string) (Event, error) {
	var e Event
	head, rest, _ := strings.Cut(line, " ")
	place, args, _ := strings.Cut(rest, " ")
	kind, names, ok := strings.Cut(head, ":")
	var ok2 bool
	e.Group, e.Name, ok2 = strings.Cut(names, "/")
	if !ok || !ok2 || kind != "p" && kind != "r" {
		return e, errLine
	}
	e.Return = kind == "r"
	colon := strings.LastIndexByte(place, ':')
	if colon < 0 {
		return e, errLine
	}
	e.Path = place[:colon]
	offset, counter, counted := strings.Cut(strings.TrimSuffix(place[colon+1:], ")"), "(")
	offset = strings.TrimSuffix(offset, "%return")
	var err, err2 error
	e.Offset, err = strconv.ParseUint(offset, 0, 64)
	if counted {
		e.Counter, err2 = strconv.ParseUint(counter, 0, 64)
	}
	e.Args = strings.Fields(args)
	return e, errors.Join(err, err2)
}

// maxEvents is how many lines are read, one for each place.
const maxEvents = 1 << 16

// parseEvents reads uprobe_events.
func parseEvents(data []byte) (all []Event, err error) {
	for line := range bytes.Lines(data) {
		text := strings.TrimSuffix(string(line), "\n")
		if text == "" {
			continue
		}
		e, err := parseEvent(text)
		if err != nil {
			return all, fmt.Errorf("event %d, %.80q: %w", len(all), text, err)
		}
		if len(all) == maxEvents {
			return all, fmt.Errorf("more than %d events", maxEvents)
		}
		all = append(all, e)
	}
	return all, nil
}

// addHits adds what uprobe_profile says. It has neither groups nor offsets, but the order of
// uprobe_events; lines of events that came or went between the two reads match nothing.
func addHits(all []Event, profile []byte) {
	type key struct{ path, name string }
	next := map[key][]*Event{}
	for i := range all {
		k := key{all[i].Path, all[i].Name}
		next[k] = append(next[k], &all[i])
	}
	for line := range bytes.Lines(profile) {
		f := strings.Fields(string(line))
		if len(f) < 3 {
			continue
		}
		n, err := strconv.ParseUint(f[2], 10, 64)
		k := key{f[0], f[1]}
		if events := next[k]; err == nil && len(events) > 0 {
			events[0].Hits, next[k] = n, events[1:]
		}
	}
}
