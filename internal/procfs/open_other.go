//go:build !linux

package procfs

import "os"

func open(path string) (*os.File, error) { return os.Open(path) }
