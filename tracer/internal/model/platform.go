package model

import (
	"fmt"
	"runtime"
)

// ErrPlatform is the error of everything where there is no engine.
var ErrPlatform = fmt.Errorf("tracing on %s: %w", runtime.GOOS, ErrNotSupported)

// DefaultMaxString is the number of bytes of a string or []byte that an event carries unless told
// otherwise.
const DefaultMaxString = 256
