package elffile

import (
	"os"
	"strconv"
	"syscall"
)

// pages is page-aligned memory.
type pages []byte

// mapped maps size bytes of a file at an offset. They are read from the file on first use.
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

// anonymous returns size zero bytes of memory. Its pages are allocated on first write.
func anonymous(size int64) (pages, error) {
	return syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
}

func (p pages) unmap() error { return syscall.Munmap(p) }

// release removes the pages of a file mapping from the memory of this process. They are read from
// the file again at the next use. Pages of anonymous memory would become zero.
func (p pages) release() { _ = syscall.Madvise(p, syscall.MADV_DONTNEED) }

// pathOf returns the current path of an open file, or "" if it is unknown.
func pathOf(f *os.File) string {
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(f.Fd())))
	if err != nil {
		return ""
	}
	return path
}
