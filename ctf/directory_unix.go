//go:build unix

package ctf

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether a file is of the effective user.
func isOwn(f fs.FileInfo) bool {
	s, ok := f.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

// haveOneOwner reports whether two files are of one user.
func haveOneOwner(a, b fs.FileInfo) bool {
	x, okX := a.Sys().(*syscall.Stat_t)
	y, okY := b.Sys().(*syscall.Stat_t)
	return okX && okY && x.Uid == y.Uid
}
