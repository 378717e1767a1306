//go:build !linux || !(386 || amd64 || arm || arm64 || loong64 || riscv64 || s390x)

package procfs

import (
	"errors"
	"os"
)

func queryExecutables(*os.File) ([]Mapping, error) { return nil, errors.ErrUnsupported }
