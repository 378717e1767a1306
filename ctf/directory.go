package ctf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrForeign is the refusal of a directory of another user, who could replace the files in it.
var ErrForeign = errors.New("it belongs to another user")

// directory is where a trace is written. It is held open, so that a name which later leads
// elsewhere changes nothing, and files in it are new ones: links are not followed.
type directory struct {
	*os.Root
	path string
}

// openDirectory makes a directory for this process's user alone, because events have arguments, or takes
// one of that user that is empty. A symbolic link to one is refused.
func openDirectory(path string) (d *directory, err error) {
	clean := filepath.Clean(path)
	if base := filepath.Base(clean); base == "." || base == ".." {
		if clean, err = filepath.Abs(clean); err != nil {
			return nil, err
		}
	}
	above, base := filepath.Dir(clean), filepath.Base(clean)
	if base == string(filepath.Separator) {
		base = "."
	}
	if err := os.MkdirAll(above, 0o777); err != nil {
		return nil, err
	}
	parent, err := os.OpenRoot(above)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	err = parent.Mkdir(base, 0o700)
	made := err == nil
	info, statErr := parent.Lstat(base)
	switch {
	case statErr != nil && err != nil:
		return nil, named(above, err)
	case statErr != nil:
		return nil, named(above, statErr)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("directory %s is a symbolic link: %w", path, fs.ErrExist)
	case !info.IsDir():
		return nil, &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
	}
	root, err := parent.OpenRoot(base)
	if err != nil {
		return nil, named(above, err)
	}
	d = &directory{root, path}
	if err := d.check(info, made); err != nil {
		root.Close()
		return nil, err
	}
	return d, nil
}

// check returns an error if the directory is not the one that was seen, is of another user, or is
// not empty.
func (d *directory) check(seen fs.FileInfo, made bool) error {
	now, err := d.Stat(".")
	if err != nil {
		return named(d.path, err)
	}
	if !os.SameFile(seen, now) {
		return fmt.Errorf("directory %s was replaced meanwhile: %w", d.path, fs.ErrExist)
	}
	if !isOwn(now) && !(made && d.ownsAlike(now)) {
		return fmt.Errorf("directory %s: %w", d.path, ErrForeign)
	}
	entries, err := fs.ReadDir(d.FS(), ".")
	if err != nil {
		return named(d.path, err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("directory %s is not empty: %w", d.path, fs.ErrExist)
	}
	return nil
}

// ownsAlike reports whether the files that this process makes in the directory have its owner: some
// file systems have one owner for all files.
func (d *directory) ownsAlike(dir fs.FileInfo) bool {
	f, err := d.create(nextMetadata)
	if err != nil {
		return false
	}
	defer d.Remove(nextMetadata)
	defer f.Close()
	info, err := f.Stat()
	return err == nil && haveOneOwner(info, dir)
}

// create makes a file that must not be there, for its user alone.
func (d *directory) create(name string) (*os.File, error) {
	f, err := d.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	return f, named(d.path, err)
}

// replace writes a file and renames it over the one of another name, so that this is whole at any time.
func (d *directory) replace(name, next string, content []byte) error {
	f, err := d.create(next)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = named(d.path, d.Rename(next, name))
	}
	if err != nil {
		_ = d.Remove(next)
	}
	return err
}

// named gives an error of a name in a directory the whole path.
func named(dir string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return &fs.PathError{Op: strings.TrimSuffix(at.Op, "at"), Path: filepath.Join(dir, at.Path), Err: at.Err}
	}
	return err
}
