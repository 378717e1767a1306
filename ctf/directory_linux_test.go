package ctf_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// A directory of another user, who can replace the files in it, is refused and stays as it is.
func TestCreateRefusesForeign(t *testing.T) {
	peer.Root(t)
	dir := t.TempDir()
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, err := ctf.Create(dir, nil); !errors.Is(err, ctf.ErrForeign) {
		t.Errorf("a directory of another user: %v", err)
	}
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	// One that is made there is this user's.
	w, err := ctf.Create(filepath.Join(dir, "a", "trace"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// Events have arguments, so no other user may read a trace, whatever the umask permits.
func TestTraceIsPrivate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := filepath.Join(t.TempDir(), "trace")
	w, err := ctf.Create(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		files++
		return err
	})
	if err != nil || files < 2 {
		t.Errorf("%d files, %v", files, err)
	}
}

// A symbolic link, and a file, are no directories to write in.
func TestCreateRefusesLinks(t *testing.T) {
	dir := t.TempDir()
	real, link, file := filepath.Join(dir, "real"), filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := errors.Join(os.Mkdir(real, 0o777), os.Symlink("real", link), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := ctf.Create(link, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a link: %v", err)
	}
	if _, err := ctf.Create(file, nil); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("a file: %v", err)
	}
	if left := names(t, real); len(left) > 0 {
		t.Errorf("%q are where the link leads", left)
	}
	w, err := ctf.Create(real, nil)
	if err != nil {
		t.Fatalf("an empty directory: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// Links that appear among the files of a trace are not followed.
func TestPlantedLinks(t *testing.T) {
	dir := t.TempDir()
	victim, trace := filepath.Join(dir, "victim"), filepath.Join(dir, "trace")
	w, err := ctf.Create(trace, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"channel_0", ".metadata.new"} {
		if err := os.Symlink(victim, filepath.Join(trace, name)); err != nil {
			t.Fatal(err)
		}
	}
	class, err := w.StreamClass(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Stream(class, "channel", 0); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a stream where a link is: %v", err)
	}
	if err := w.Close(); !errors.Is(err, fs.ErrExist) || !errors.Is(err, ctf.ErrStopped) {
		t.Errorf("metadata where a link is: %v", err)
	}
	if _, err := os.Lstat(victim); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link was followed: %v", err)
	}
}

// A trace stays where it began, whatever its path leads to later.
func TestDirectoryIsHeld(t *testing.T) {
	dir := t.TempDir()
	trace, moved, other := filepath.Join(dir, "trace"), filepath.Join(dir, "moved"), filepath.Join(dir, "other")
	w, err := ctf.Create(trace, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(trace, moved), os.Mkdir(other, 0o777), os.Symlink("other", trace)); err != nil {
		t.Fatal(err)
	}
	class, err := w.StreamClass(nil, nil)
	if err == nil {
		_, err = w.Stream(class, "channel", 0)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if got := names(t, moved); len(got) != 2 || got[0] != "channel_0" || got[1] != "metadata" {
		t.Errorf("%q are in the trace", got)
	}
	if got := names(t, other); len(got) > 0 {
		t.Errorf("%q are where the path leads now", got)
	}
}

// Discard removes the files of the trace, and no others of their names.
func TestDiscard(t *testing.T) {
	dir := t.TempDir()
	trace, moved, other := filepath.Join(dir, "trace"), filepath.Join(dir, "moved"), filepath.Join(dir, "other")
	w, _, _ := oneMarker(t, trace, nil)
	if err := errors.Join(os.Rename(trace, moved), os.Mkdir(other, 0o777), os.Symlink("other", trace),
		os.WriteFile(filepath.Join(other, "metadata"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, moved); len(got) > 0 {
		t.Errorf("%q are left", got)
	}
	if got := names(t, other); len(got) != 1 {
		t.Errorf("%q are where the path leads now", got)
	}
}
