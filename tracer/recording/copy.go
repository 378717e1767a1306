package recording

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/waymark-trace/waymark/ctf"
)

// ErrCopy is the error of a trace that is a copy of another one below the same directory. Its events are not read, or
// they would be counted twice.
var ErrCopy = errors.New("it is a copy of another trace")

// copied returns the trace that another one is a copy of, nil if it is none: one with the same UUID and, as far as
// their ends show, with the same files. The chunks of a rotated session have one UUID and different files.
func copied(t *ctf.Trace, of []*ctf.Trace) *ctf.Trace {
	for _, other := range of {
		if t.UUID != (ctf.UUID{}) && t.UUID == other.UUID && len(t.Streams) > 0 && slices.EqualFunc(files(t), files(other), sameFile) {
			return other
		}
	}
	return nil
}

// files returns the files of all streams, in an order that copies share.
func files(t *ctf.Trace) (all []string) {
	for _, s := range t.Streams {
		for _, f := range s.Files {
			all = append(all, filepath.Join(t.Dir, filepath.Base(f)))
		}
	}
	return all
}

// compared is how many bytes of either end of two files are compared.
const compared = 64 << 10

// sameFile reports whether two files have one name, size, beginning and end.
func sameFile(a, b string) bool {
	if filepath.Base(a) != filepath.Base(b) {
		return false
	}
	x, sizeX, err := ends(a)
	if err != nil {
		return false
	}
	y, sizeY, err := ends(b)
	return err == nil && sizeX == sizeY && bytes.Equal(x, y)
}

// ends returns the first and the last bytes of a file, and its size.
func ends(path string) ([]byte, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	size := info.Size()
	first, err := io.ReadAll(io.NewSectionReader(f, 0, compared))
	if err != nil {
		return nil, 0, err
	}
	last, err := io.ReadAll(io.NewSectionReader(f, max(size-compared, 0), compared))
	return append(first, last...), size, err
}
