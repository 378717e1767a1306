//go:build !linux || !amd64

package main

import (
	"errors"
	"fmt"
)

func countInstructions(path, function string, cpu int) (int, error) {
	return 0, fmt.Errorf("counting instructions: %w", errors.ErrUnsupported)
}
