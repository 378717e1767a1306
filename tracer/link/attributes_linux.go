package link

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// keepAttributes gives f the owner and the extended attributes of source. It returns what could not
// be kept, for the user to restore, and whether f may have the privileges of source: both belong to
// the effective user.
func keepAttributes(f, source *os.File, like os.FileInfo) (lost []string, privileged bool) {
	if st, ok := like.Sys().(*syscall.Stat_t); ok {
		privileged = int(st.Uid) == os.Geteuid()
		if !privileged || int(st.Gid) != os.Getegid() {
			if err := f.Chown(int(st.Uid), int(st.Gid)); err != nil {
				lost = append(lost, fmt.Sprintf("its owner %d:%d could not be kept: %v", st.Uid, st.Gid, err))
				privileged = false
			}
		}
	}
	names := make([]byte, 64<<10) // XATTR_LIST_MAX
	n, err := unix.Flistxattr(int(source.Fd()), names)
	if err != nil {
		return lost, privileged // the file system has none
	}
	value := make([]byte, 64<<10) // XATTR_SIZE_MAX
	for name := range bytes.SplitSeq(names[:n], []byte{0}) {
		if len(name) == 0 {
			continue
		}
		if string(name) == "security.capability" && !privileged {
			lost = append(lost, "its file capabilities were dropped, because it is not a file of this user")
			continue
		}
		n, err := unix.Fgetxattr(int(source.Fd()), string(name), value)
		if err == nil {
			err = unix.Fsetxattr(int(f.Fd()), string(name), value[:n], 0)
		}
		if err != nil && !errors.Is(err, syscall.ENODATA) {
			lost = append(lost, fmt.Sprintf("its attribute %s could not be kept: %v", name, err))
		}
	}
	return lost, privileged
}
