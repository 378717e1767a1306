//go:build !unix

package link

import "os"

// keepOwner does nothing: files have no owner to keep here.
func keepOwner(*os.File, os.FileInfo) {}
