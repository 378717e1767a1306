//go:build !linux

package main

import "errors"

var errPinned = errors.New("threads are pinned on Linux only")

func allowedCPUs() ([]int, error) { return nil, errPinned }
func pinThread(int) error         { return errPinned }
