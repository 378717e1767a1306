package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer"
)

// explainFile adds what helps when a FILE cannot be read.
func explainFile(path string, err error) error {
	given := isAbout(err, path)
	switch {
	case path == "":
		return err
	case given && errors.Is(err, fs.ErrNotExist):
		if found, e := exec.LookPath(path); e == nil {
			return withHint(err, "FILE is a path, perhaps %s", found)
		}
		return withHint(err, "FILE is a path, such as ./server; -p PID is a process, -- COMMAND a program to start")
	case given && errors.Is(err, fs.ErrPermission):
		return withHint(err, "run waymark as a user who may read the file, or as root")
	case errors.Is(err, sdt.ErrNotELF):
		return withHint(err, "FILE is an executable or a shared library; the markers of a script are those of its interpreter")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return withHint(err, "the end of the file is missing: build or copy it again")
	}
	return err
}

// explainLink adds what helps when a FILE cannot be linked for want of a file.
func explainLink(path string, err error) error {
	missing, denied := errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission)
	switch {
	case !missing && !denied:
		return err
	case !isAbout(err, path):
		return withHint(err, "the linked file is made beside the one that it replaces: -o takes a FILE in a directory that may be written")
	case missing:
		return withHint(err, "FILE is the path of what go build wrote, such as ./server")
	}
	return withHint(err, "run waymark as a user who may read the file, or as root")
}

// isAbout reports whether an error is about the file that has been given, and none of the kernel's.
func isAbout(err error, path string) bool {
	var of *fs.PathError
	return errors.As(err, &of) && filepath.Clean(of.Path) == filepath.Clean(path)
}

// explainCommand adds what helps when a COMMAND cannot be started.
func explainCommand(name string, err error) error {
	switch {
	case errors.As(err, new(*tracer.PermissionError)): // it is said of tracing it
		return err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound):
		if beside, e := os.Stat(name); e == nil && beside.Mode().IsRegular() {
			if strings.Contains(name, "/") {
				return withHint(err, "it is there, so what is missing is its interpreter, or its first line is wrong")
			}
			return withHint(err, "a program in this directory is ./%s", name)
		}
		return withHint(err, "COMMAND is searched in PATH, or is a path such as ./server; its arguments are words of their own")
	case errors.Is(err, fs.ErrPermission):
		return withHint(err, "a program is a file that this user may execute: chmod +x makes one")
	}
	return err
}

// explainOutput adds what helps when the FILE of -o cannot be written.
func explainOutput(err error) error {
	return withHint(err, "-o takes a file that may be written, in a directory that is there; - is standard output")
}

// explainDirectory adds what helps when a trace cannot begin.
func explainDirectory(dir string, err error) error {
	switch {
	case errors.Is(err, fs.ErrExist):
		return withHint(err, "give another directory, or remove %s first", dir)
	case errors.Is(err, ctf.ErrForeign):
		return withHint(err, "give a directory that waymark can make, or one of this user")
	case diskFull(err):
		return withHint(err, "make room, or give -o another file system")
	}
	return withHint(err, "give -o DIR, a directory that is empty or can be made: this user has to be permitted to write there")
}

// missingDirectory returns the first directory on the way to path that is not there, "" when path is there.
func missingDirectory(path string) (missing string) {
	for path = filepath.Clean(path); ; path = filepath.Dir(path) {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return missing
		}
		missing = path
	}
}

// removeEmpty removes path and the directories on the way to it, from missing on, as long as they are empty.
func removeEmpty(path, missing string) {
	if missing == "" {
		return
	}
	for path = filepath.Clean(path); os.Remove(path) == nil && path != missing; {
		path = filepath.Dir(path)
	}
}
