//go:build !linux

package debuginfo

import (
	"errors"
	"os"
)

type mapping []byte

func mapped(*os.File, int64, int64) ([]byte, mapping, error) {
	return nil, nil, errors.ErrUnsupported
}

func anonymous(int64) (mapping, error) { return nil, errors.ErrUnsupported }

func (mapping) unmap() error { return nil }

func (mapping) release() {}
