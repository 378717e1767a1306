//go:build !linux

package link

import "os"

// keepAttributes keeps nothing: only the mode is kept here, without privileges.
func keepAttributes(_, _ *os.File, _ os.FileInfo) (lost []string, privileged bool) { return nil, false }
