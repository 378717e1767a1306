package link

import (
	"bytes"
	"os"
)

// maxUnlinked bounds what Unlinked reads, in bytes: somebody waits for something else.
const maxUnlinked = 512 << 20

// Unlinked reports whether the executable at path has markers that no tracer sees until it is
// linked.
func Unlinked(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxUnlinked {
		return false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	linked, _, err := Link(data)
	return err == nil && !bytes.Equal(linked, data)
}
