// Package explain adds hints to errors: of the tracer, of the linker, and of files, commands and directories that
// cannot be used.
package explain

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/client"
	"github.com/waymark-trace/waymark/tracer/kernelevent"
	"github.com/waymark-trace/waymark/tracer/link"
)

// Print prints an error, one line for each of those it joins, and the hint that helps.
func Print(e *term.Env, err error) {
	text, hint := Error(err)
	lines := []string{text}
	if text == err.Error() {
		lines = term.ErrorLines(err)
	}
	for _, line := range lines {
		e.Message("error: %s", line)
	}
	if hint != "" {
		e.Hint("%s", hint)
	}
}

// Error returns the text of an error and the hint for it, "" for none.
func Error(err error) (text, hint string) {
	var (
		own        *term.Hinted
		permission *tracer.PermissionError
		noMatch    *tracer.NoMatchError
		where      *tracer.WhereError
		noField    *tracer.NoFieldError
		refused    *client.Error
	)
	switch text = err.Error(); {
	case errors.As(err, &own):
		return text, own.Hint
	case errors.Is(err, client.ErrNoAgent):
		return text, agentHint
	case errors.As(err, &refused):
		return text, refused.Hint
	case errors.As(err, &permission):
		return text, PermissionHint(permission)
	case errors.As(err, &noMatch):
		return fmt.Sprintf("no marker matches %q", noMatch.Pattern), NoMatchHint(noMatch)
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
	{kernelevent.ErrNotMounted, "mount -t tracefs tracefs /sys/kernel/tracing; stat and trace do without"},
	{kernelevent.ErrNoTracepoint, "ls /sys/kernel/tracing/events shows the groups; as root, perf list tracepoint shows all"},
	{tracer.ErrNoTypes, "it needs CONFIG_DEBUG_INFO_BTF and /sys/kernel/btf/vmlinux; without --follow stat and trace do not"},
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
	{kernelevent.ErrPath, "make a symbolic link to the file, with a name without blanks, and give that"},
	{kernelevent.ErrBusy, "end perf, or write 0 to the event's enable file below /sys/kernel/tracing/events, then try again"},

	{ctf.ErrVersion2, "record with lttng create --trace-format=ctf-1.8, or convert with babeltrace2 2.1: babeltrace2 TRACE -c sink.ctf.fs -p 'path=\"DIR\",ctf-version=\"1\"'"},

	{path.ErrBadPattern, "* stands for any text, ? for a character, [a-z] for one of these; a [ itself is \\["},

	{link.ErrNotELF, "link takes a finished Linux executable, as GOOS=linux go build writes it"},
	{link.ErrNotGo, "C programs need no link: waymark list shows the SDT markers they have"},
	{link.ErrNotExecutable, "link the program that uses the library or archive, not the library"},
	{link.ErrPlugin, "declare the markers in a package that the program imports too: the plugin then uses those of the program, which can be linked"},
	{link.ErrArchitecture, "build it with GOARCH=amd64; in programs for other machines, Go functions that the program registers itself can look at markers"},
	{link.ErrNoMarkers, "declare one: var hit = marker.New1[int](\"app:hit\", \"n %d\"), and call hit.Mark(1) where it happens"},
	{link.ErrNoRecords, "link it where it was built and its sources are, before they change and before strip: docs/simple.md"},
	{link.ErrMadeLate, "build without -gcflags=-l and without -cover over package marker; waymark vet finds what else keeps the compiler from laying markers out"},
	{link.ErrVersion, "the program's go.mod and this waymark should name one version: go get github.com/waymark-trace/waymark@latest"},
	{link.ErrLayout, "link straight after go build, before strip, upx or other tools change the file"},
	{link.ErrMarker, "a name is provider:name in letters, digits and _; a format has one verb for each argument"},
	{link.ErrTooMany, "a binary holds 1024 markers: mark fewer places and tell them apart by an argument"},
}

// PermissionHint returns what gives waymark a permission that it lacks.
func PermissionHint(e *tracer.PermissionError) string {
	switch {
	case e.Hint != "":
		return strings.TrimSuffix(e.Hint, ".")
	case e.Capability != "":
		return "run it as root, or give waymark the capability: setcap " + strings.ToLower(e.Capability) + "+ep waymark"
	}
	return "run it as root"
}

// NoMatchHint returns the names that a pattern could have matched.
func NoMatchHint(e *tracer.NoMatchError) string {
	if e.Total == 0 {
		return "there are no markers"
	}
	names := term.Labels(e.Available)
	if more := e.Total - len(names); more > 0 {
		return fmt.Sprintf("there is %s, and %d more that waymark list shows", strings.Join(names, ", "), more)
	}
	return "there is " + term.List(names)
}

func noFieldHint(e *tracer.NoFieldError) string {
	const always = "pid, tid, comm, cpu and goroutine"
	if len(e.Available) == 0 {
		return "the markers have no fields; there is always " + always
	}
	names := term.Labels(e.Available)
	return "there is " + term.List(names) + ", and always " + always
}

// agentHint says how a program gets an agent.
const agentHint = "a Go program has one that imports github.com/waymark-trace/waymark/agent/auto, unless WAYMARK_AGENT=0 is in its environment"

// File adds what helps when a FILE cannot be read.
func File(path string, err error) error {
	given := isAbout(err, path)
	switch {
	case path == "":
		return err
	case given && errors.Is(err, fs.ErrNotExist):
		if found, e := exec.LookPath(path); e == nil {
			return term.WithHint(err, "FILE is a path, perhaps %s", found)
		}
		return term.WithHint(err, "FILE is a path, such as ./server; -p PID is a process, -- COMMAND a program to start")
	case given && errors.Is(err, fs.ErrPermission):
		return term.WithHint(err, "run waymark as a user who may read the file, or as root")
	case errors.Is(err, sdt.ErrNotELF):
		return term.WithHint(err, "FILE is an executable or a shared library; the markers of a script are those of its interpreter")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return term.WithHint(err, "the end of the file is missing: build or copy it again")
	}
	return err
}

// Link adds what helps when a FILE cannot be linked for want of a file.
func Link(path string, err error) error {
	missing, denied := errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission)
	switch {
	case !missing && !denied:
		return err
	case !isAbout(err, path):
		return term.WithHint(err, "the linked file is made beside the one that it replaces: -o takes a FILE in a directory that may be written")
	case missing:
		return term.WithHint(err, "FILE is the path of what go build wrote, such as ./server")
	}
	return term.WithHint(err, "run waymark as a user who may read the file, or as root")
}

// isAbout reports whether an error is about the file that has been given, and none of the kernel's.
func isAbout(err error, path string) bool {
	var of *fs.PathError
	return errors.As(err, &of) && filepath.Clean(of.Path) == filepath.Clean(path)
}

// Command adds what helps when a COMMAND cannot be started.
func Command(name string, err error) error {
	switch {
	case errors.As(err, new(*tracer.PermissionError)): // it is said of tracing it
		return err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound):
		if beside, e := os.Stat(name); e == nil && beside.Mode().IsRegular() {
			if strings.Contains(name, "/") {
				return term.WithHint(err, "it is there, so what is missing is its interpreter, or its first line is wrong")
			}
			return term.WithHint(err, "a program in this directory is ./%s", name)
		}
		return term.WithHint(err, "COMMAND is searched in PATH, or is a path such as ./server; its arguments are words of their own")
	case errors.Is(err, fs.ErrPermission):
		return term.WithHint(err, "a program is a file that this user may execute: chmod +x makes one")
	}
	return err
}

// Directory adds what helps when a trace cannot begin.
func Directory(dir string, err error) error {
	switch {
	case errors.Is(err, fs.ErrExist):
		return term.WithHint(err, "give another directory, or remove %s first", dir)
	case errors.Is(err, ctf.ErrForeign):
		return term.WithHint(err, "give a directory that waymark can make, or one of this user")
	case term.DiskFull(err):
		return term.WithHint(err, "make room, or give -o another file system")
	}
	return term.WithHint(err, "give -o DIR, a directory that is empty or can be made: this user has to be permitted to write there")
}

// Disk adds what helps when a trace could not be written.
func Disk(err error) error {
	if term.DiskFull(err) {
		return term.WithHint(err, "what was written until then is a valid trace; make room, or give -o another file system")
	}
	return err
}
