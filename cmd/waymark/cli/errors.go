package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/link"
)

// printError prints an error, one line for each of those it joins, and the hint that helps.
func (e *Env) printError(err error) {
	text, hint := explain(err)
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			e.message("error: %s", line)
		}
	}
	if hint != "" {
		e.hint("%s", hint)
	}
}

// hinted is an error with the hint for it.
type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

func withHint(err error, format string, args ...any) error {
	return &hinted{err, fmt.Sprintf(format, args...)}
}

// explain returns the text of an error and the hint for it, "" for none.
func explain(err error) (text, hint string) {
	var (
		own        *hinted
		wrong      *usageError
		permission *tracer.PermissionError
		noMatch    *tracer.NoMatchError
		where      *tracer.WhereError
		noField    *tracer.NoFieldError
		refused    *tracer.AgentError
	)
	switch text = err.Error(); {
	case errors.As(err, &own):
		return text, own.hint
	case errors.As(err, &wrong):
		return text, wrong.hint
	case errors.Is(err, tracer.ErrNoAgent):
		return text, agentHint
	case errors.As(err, &refused):
		return text, refused.Hint
	case errors.As(err, &permission):
		return text, permissionHint(permission)
	case errors.As(err, &noMatch):
		return fmt.Sprintf("no marker matches %q", noMatch.Pattern), noMatchHint(noMatch)
	case errors.As(err, &where):
		return "--where: " + where.Unwrap().Error(), cmp.Or(where.Hint, "such as 'status >= 500 && path ~ \"/api/*\"'; docs/filters.md says what there is")
	case errors.As(err, &noField):
		return fmt.Sprintf("no marker has a field %q", noField.Name), noFieldHint(noField)
	}
	for _, h := range hints {
		if errors.Is(err, h.err) {
			return text, h.hint
		}
	}
	return text, ""
}

// hints are what helps with the sentinel errors, the first that applies.
var hints = []struct {
	err  error
	hint string
}{
	{tracer.ErrNoProc, "mount -t proc proc /proc"},
	{tracer.ErrNoTracefs, "mount -t tracefs tracefs /sys/kernel/tracing; stat and trace do without"},
	{tracer.ErrNoTracepoint, "ls /sys/kernel/tracing/events shows the groups; as root, perf list tracepoint shows all"},
	{tracer.ErrNoTypes, "it needs CONFIG_DEBUG_INFO_BTF and /sys/kernel/btf/vmlinux; without --follow stat and trace do not"},
	{tracer.ErrNotByAgent, "--engine kernel does it, where that is permitted: waymark doctor -p PID says whether it is"},
	{tracer.ErrNotSupported, "tracing needs Linux on x86-64, and waymark doctor says what this machine lacks; link, build and list FILE do not trace"},
	{tracer.ErrNoProcess, "waymark list shows the running processes that have markers"},
	{tracer.ErrChanged, "the file was rebuilt or the process replaced: run the same again"},
	{tracer.ErrCounterConflict, "another tracer has this marker under a counter of its own: end it first"},
	{tracer.ErrRedZone, "choose more markers than these; perf and bpftrace do attach there, and do that harm"},
	{tracer.ErrTyped, "leave it out: --str is for markers without types, as C programs have them"},
	{tracer.ErrNotSimple, "waymark list --simple shows those; the fields of other markers are shown without --vars"},
	{tracer.ErrNoVariable, "waymark list --simple -v FILE shows the variables that are in scope at each marker"},
	{tracer.ErrNoDebug, "build it with -g and do not strip it, or keep its debugging information in a file of its own: docs/simple.md, Tracing"},
	{tracer.ErrNoPlace, "docs/simple.md says why that is, and of the anchored form, which always has one"},
	{tracer.ErrPath, "make a symbolic link to the file, with a name without blanks, and give that"},
	{tracer.ErrBusy, "end perf, or write 0 to the event's enable file below /sys/kernel/tracing/events, then try again"},

	{ctf.ErrVersion2, "record with lttng create --trace-format=ctf-1.8, or convert with babeltrace2 2.1: babeltrace2 TRACE -c sink.ctf.fs -p 'path=\"DIR\",ctf-version=\"1\"'"},

	{path.ErrBadPattern, "* stands for any text, ? for a character, [a-z] for one of these; a [ itself is \\["},

	{link.ErrNotELF, "link takes a finished Linux executable, as GOOS=linux go build writes it"},
	{link.ErrNotGo, "C programs need no link: waymark list shows the SDT markers they have"},
	{link.ErrNotExecutable, "link the program that uses the library or archive, not the library"},
	{link.ErrArchitecture, "build it with GOARCH=amd64; in programs for other machines, Go functions that the program registers itself can look at markers"},
	{link.ErrNoMarkers, "declare one: var hit = marker.New1[int](\"app:hit\", \"n %d\"), and call hit.Mark(1) where it happens"},
	{link.ErrNoRecords, "link it where it was built and its sources are, before they change and before strip: docs/simple.md"},
	{link.ErrMadeLate, "build without -gcflags=-l and without -cover over package marker; waymark vet finds what else keeps the compiler from laying markers out"},
	{link.ErrVersion, "the program's go.mod and this waymark should name one version: go get github.com/waymark-trace/waymark@latest"},
	{link.ErrLayout, "link straight after go build, before strip, upx or other tools change the file"},
	{link.ErrMarker, "a name is provider:name in letters, digits and _; a format has one verb for each argument"},
	{link.ErrTooMany, "a binary holds 1024 markers: mark fewer places and tell them apart by an argument"},
}

func permissionHint(e *tracer.PermissionError) string {
	switch {
	case e.Hint != "":
		return strings.TrimSuffix(e.Hint, ".")
	case e.Capability != "":
		return "run it as root, or give waymark the capability: setcap " + strings.ToLower(e.Capability) + "+ep waymark"
	}
	return "run it as root"
}

func noMatchHint(e *tracer.NoMatchError) string {
	if e.Total == 0 {
		return "there are no markers"
	}
	names := make([]string, len(e.Available))
	for i, name := range e.Available {
		names[i] = label(name)
	}
	if more := e.Total - len(names); more > 0 {
		return fmt.Sprintf("there is %s, and %d more that waymark list shows", strings.Join(names, ", "), more)
	}
	return "there is " + list(names)
}

func noFieldHint(e *tracer.NoFieldError) string {
	const always = "pid, tid, comm, cpu and goroutine"
	if len(e.Available) == 0 {
		return "the markers have no fields; there is always " + always
	}
	names := make([]string, len(e.Available))
	for i, name := range e.Available {
		names[i] = label(name)
	}
	return "there is " + list(names) + ", and always " + always
}

// pointError says of which kind of points none matches a pattern.
func pointError(kind string, err error) error {
	var none *tracer.NoMatchError
	if !errors.As(err, &none) || kind == pointMarker {
		return err
	}
	return withHint(fmt.Errorf("no %s matches %q", kind, none.Pattern), "%s", noMatchHint(none))
}
