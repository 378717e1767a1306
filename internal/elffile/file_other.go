//go:build !unix

package elffile

import (
	"fmt"
	"os"
)

// OpenRegular opens a regular file.
func OpenRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: it is not a regular file", ErrNotELF)
	}
	return os.Open(path)
}

func held(info os.FileInfo) int64 { return info.Size() }

// owner is empty on systems without numeric file owners.
type owner struct{}

func ownerOf(os.FileInfo) owner { return owner{} }

func (owner) trusts(os.FileInfo) error { return nil }
