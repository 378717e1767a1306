//go:build unix

package link

import (
	"os"
	"syscall"
)

// keepOwner gives f the owner of the file it replaces, where this user may.
func keepOwner(f *os.File, like os.FileInfo) {
	if st, ok := like.Sys().(*syscall.Stat_t); ok {
		// Without the privilege the file belongs to who linked it, as with any tool that
		// writes files anew.
		_ = f.Chown(int(st.Uid), int(st.Gid))
	}
}
