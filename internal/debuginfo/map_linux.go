package debuginfo

import (
	"os"
	"syscall"
)

// mapping is memory that begins with a page.
type mapping []byte

// mapped returns size bytes of a file from an offset, which stay in the file until they are looked
// at. A file that is cut off meanwhile is a fault then, which Guard turns into an error.
func mapped(f *os.File, offset, size int64) (data []byte, m mapping, err error) {
	info, err := f.Stat()
	if err != nil || offset < 0 || size <= 0 || offset > info.Size() || size > info.Size()-offset {
		return nil, nil, syscall.EINVAL
	}
	skip := offset % int64(os.Getpagesize())
	m, err = syscall.Mmap(int(f.Fd()), offset-skip, int(size+skip), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil, err
	}
	return m[skip:], m, nil
}

// anonymous returns size bytes of memory, all zero, of which pages are there once they are written.
func anonymous(size int64) (mapping, error) {
	return syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
}

func (m mapping) unmap() error { return syscall.Munmap(m) }

// release takes the pages of a file out of the memory of this process. What is looked at again comes
// from the file again; it would be zero if it had come from elsewhere.
func (m mapping) release() { _ = syscall.Madvise(m, syscall.MADV_DONTNEED) }
