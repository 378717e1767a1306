//go:build unix

package elffile

import (
	"fmt"
	"os"
	"syscall"
)

// OpenRegular opens a regular file. Opening a FIFO does not wait for a writer.
func OpenRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: it is not a regular file", ErrNotELF)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// held returns the number of bytes of a file outside holes. If the file system counts no blocks, it
// returns the size, because the header of an ELF file is never in a hole.
func held(info os.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Blocks > 0 {
		return int64(st.Blocks) * 512
	}
	return info.Size()
}

// owner is the user who owns a file.
type owner struct {
	known bool
	uid   uint32
}

func ownerOf(info os.FileInfo) owner {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{}
	}
	return owner{true, uint32(st.Uid)}
}

// trusts returns an error unless a debug file is safe to use for the owner's file.
func (o owner) trusts(debug os.FileInfo) error {
	its := ownerOf(debug)
	switch {
	case !its.known || its.uid != 0 && its != o:
		return fmt.Errorf("it belongs to user %d, not to root or the owner of the program", its.uid)
	case debug.Mode().Perm()&0o002 != 0:
		return fmt.Errorf("it can be written by everybody, mode %v", debug.Mode())
	}
	return nil
}
