//go:build !linux

package debuginfo

import (
	"errors"
	"os"
)

func mapped(*os.File, int64, int64) ([]byte, func() error, error) {
	return nil, nil, errors.ErrUnsupported
}

func anonymous(int64) ([]byte, func() error, error) { return nil, nil, errors.ErrUnsupported }
