//go:build !linux

package main

import (
	"errors"
	"os"
)

func forgetFile(string) {}

func peakMemory(*os.ProcessState) float64 { return 0 }

func debugSize(string) (uint64, error) { return 0, errors.ErrUnsupported }
