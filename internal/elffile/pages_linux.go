package elffile

import (
	"os"
	"strconv"
	"syscall"
)

// pages is memory that begins with a page.
type pages []byte

// mapped returns size bytes of a file from an offset, which stay in the file until they are used.
func mapped(f *os.File, offset, size int64) (data []byte, p pages, err error) {
	info, err := f.Stat()
	if err != nil || offset < 0 || size <= 0 || offset > info.Size() || size > info.Size()-offset {
		return nil, nil, syscall.EINVAL
	}
	skip := offset % int64(os.Getpagesize())
	p, err = syscall.Mmap(int(f.Fd()), offset-skip, int(size+skip), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil, err
	}
	return p[skip:], p, nil
}

// anonymous returns size bytes of memory, all zero, of which pages are there once they are written.
func anonymous(size int64) (pages, error) {
	return syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
}

func (p pages) unmap() error { return syscall.Munmap(p) }

// release takes the pages of a file out of the memory of this process. What is used again comes from the
// file again; it would be zero if it had come from elsewhere.
func (p pages) release() { _ = syscall.Madvise(p, syscall.MADV_DONTNEED) }

// pathOf returns the path that an open file has now, "" when it is not known.
func pathOf(f *os.File) string {
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(f.Fd())))
	if err != nil {
		return ""
	}
	return path
}
