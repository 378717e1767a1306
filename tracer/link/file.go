package link

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/waymark-trace/waymark/internal/elffile"
)

// maxFile bounds the files link reads, in bytes: it holds two copies in memory.
const maxFile = 4 << 30

// File links the executable at path and writes the result to out, or in place if out is "" or
// path. It writes a new file in out's directory and renames it, so a running program keeps the
// file it started from.
//
// The new file has the mode, the owner and the extended attributes of the old one, and
// Report.Warnings names those that could not be kept. Set-user-ID and set-group-ID bits and
// file capabilities are kept only if the old file belongs to the effective user: another user
// could have replaced its content, and would gain this user's privilege.
func File(path, out string, o Options) (*Report, error) {
	report, err := linkFile(path, out, o)
	if err != nil {
		return nil, fmt.Errorf("linking %s: %w", path, err)
	}
	return report, nil
}

// linkFile opens the executable once: its content, mode, owner and attributes come from that
// descriptor. The result is written relative to a descriptor of its directory.
func linkFile(path, out string, o Options) (*Report, error) {
	if out == "" {
		out = path
	}
	// A symbolic link keeps pointing to what it pointed to.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if real, err := filepath.EvalSymlinks(out); err == nil {
		out = real
	}
	source, err := elffile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	data, info, err := elffile.ReadAll(source, maxFile)
	if err != nil {
		return nil, err
	}
	if o.Built.IsZero() {
		o.Built = info.ModTime()
	}
	linked, report, err := Link(data, o)
	if err != nil {
		return nil, err
	}
	report.Path = out
	report.Unchanged = bytes.Equal(linked, data)
	if report.Unchanged && out == path || out == os.DevNull { // the latter only to see whether it can be linked
		return report, nil
	}
	dir, err := os.OpenRoot(filepath.Dir(out))
	if err != nil {
		return nil, notMade(out, err)
	}
	defer dir.Close()
	name := filepath.Base(out)
	there, err := dir.Lstat(name)
	switch {
	case err == nil && !there.Mode().IsRegular():
		return nil, fmt.Errorf("%s is there and not a regular file: it is not replaced", out)
	case out == path && (err != nil || !os.SameFile(there, info)):
		return nil, fmt.Errorf("%s was replaced while it was linked: link it again", out)
	}
	lost, err := replaceFile(dir, name, linked, source, info)
	report.Warnings = append(report.Warnings, lost...)
	return report, err
}

// replaceFile writes data to a new file in a directory, with the attributes of source, and renames
// it. A crash leaves either the old file or the new one.
func replaceFile(dir *os.Root, name string, data []byte, source *os.File, like os.FileInfo) (lost []string, err error) {
	temporary := fmt.Sprintf(".%s.link%d", name, rand.Uint64())
	f, err := dir.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, notMade(filepath.Join(dir.Name(), name), err)
	}
	defer func() {
		if err != nil {
			f.Close()
			dir.Remove(temporary)
		}
	}()
	if _, err := f.Write(data); err != nil {
		return nil, err
	}
	lost, privileged := keepAttributes(f, source, like)
	mode := like.Mode()
	if special := mode & (os.ModeSetuid | os.ModeSetgid); special != 0 && !privileged {
		mode &^= special
		lost = append(lost, "its set-user-ID and set-group-ID bits were dropped, because it is not a file of this user")
	}
	// After the owner: changing it clears the set-user-ID bits.
	if err := f.Chmod(mode); err != nil {
		return lost, err
	}
	if err := f.Sync(); err != nil {
		return lost, err
	}
	if err := f.Close(); err != nil {
		return lost, err
	}
	return lost, dir.Rename(temporary, name)
}

// notMade returns the error for a new file, without the path of the temporary one.
func notMade(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("making a new file beside %s: %w", path, err)
}
