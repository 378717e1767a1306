package link

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// keepAttributes gives f the owner and the extended attributes, file capabilities among
// them, of the file at path. It returns what could not be kept, for the user to restore, and
// whether f has the owner.
func keepAttributes(f *os.File, path string, like os.FileInfo) (lost []string, owned bool) {
	owned = true
	if st, ok := like.Sys().(*syscall.Stat_t); ok && (int(st.Uid) != os.Geteuid() || int(st.Gid) != os.Getegid()) {
		if err := f.Chown(int(st.Uid), int(st.Gid)); err != nil {
			lost = append(lost, fmt.Sprintf("its owner %d:%d could not be kept: %v", st.Uid, st.Gid, err))
			owned = false
		}
	}
	self := fmt.Sprintf("/proc/self/fd/%d", f.Fd()) // the file itself, whatever has its name now
	names := make([]byte, 64<<10)                   // XATTR_LIST_MAX
	n, err := syscall.Listxattr(path, names)
	if err != nil {
		return lost, owned // the file system has none
	}
	for name := range bytes.SplitSeq(names[:n], []byte{0}) {
		if len(name) == 0 {
			continue
		}
		value := make([]byte, 64<<10) // XATTR_SIZE_MAX
		n, err := syscall.Getxattr(path, string(name), value)
		if err == nil {
			err = syscall.Setxattr(self, string(name), value[:n], 0)
		}
		if err != nil && !errors.Is(err, syscall.ENODATA) {
			lost = append(lost, fmt.Sprintf("its attribute %s could not be kept: %v", name, err))
		}
	}
	return lost, owned
}
