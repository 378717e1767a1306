//go:build !linux

package pin

import "errors"

var errThread = errors.New("threads are pinned on Linux only")

func CPUs() ([]int, error) { return nil, errThread }
func Thread(int) error     { return errThread }
