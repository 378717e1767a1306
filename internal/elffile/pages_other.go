//go:build !linux

package elffile

import (
	"errors"
	"os"
)

type pages []byte

func mapped(*os.File, int64, int64) ([]byte, pages, error) {
	return nil, nil, errors.ErrUnsupported
}

func anonymous(int64) (pages, error) { return nil, errors.ErrUnsupported }

func (pages) unmap() error { return nil }

func (pages) release() {}

func pathOf(*os.File) string { return "" }
