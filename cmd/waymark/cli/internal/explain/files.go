package explain

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer"
)

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
