//go:build unix && !linux

package ring

import "os"

// reserve makes sure that every page of the file can be written: on a full file system the
// error comes here, and not as a signal in the middle of the program.
func reserve(f *os.File, size int64) error { return fill(f, size) }

const populate = 0
