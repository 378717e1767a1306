//go:build !linux

package link

import "os"

// keepAttributes does nothing: only the mode is kept here.
func keepAttributes(*os.File, string, os.FileInfo) ([]string, bool) { return nil, true }
