package sdt

import (
	"debug/elf"
	"errors"
	"io"

	"github.com/waymark-trace/waymark/internal/debugfile"
)

var errOtherDebugFile = errors.New("not the debug file of this file")

// withDebugFile calls read with the file's separate debug file; found is false when there is none.
// It must have the file's build id, or the checksum in the section that names it when there is no id.
func (im *image) withDebugFile(read func(*image) error) (found bool, err error) {
	id := im.buildID()
	link, sum := im.debugLink()
	for _, path := range debugfile.Paths(im.path, id, link) {
		err = withFile(path, func(r io.ReaderAt) error {
			debug, err := openImage(r)
			if err != nil {
				return err
			}
			if _, full := debug.firstOf(elf.SHT_SYMTAB); !full || debug.class != im.class {
				return errOtherDebugFile
			}
			if id != "" && debug.buildID() != id || id == "" && !debugfile.HasSum(r, sum) {
				return errOtherDebugFile
			}
			found = true
			return read(debug)
		})
		if found {
			return true, err
		}
	}
	return false, nil // others' files, or none
}

// debugLink returns the name of the debug file and its checksum, "" for none.
func (im *image) debugLink() (name string, sum uint32) {
	for i := uint32(0); ; i++ {
		s, ok := im.section(i)
		if !ok {
			return "", 0
		}
		if !im.hasName(s, ".gnu_debuglink") {
			continue
		}
		data, err := im.sectionData(s, debugfile.MaxLink)
		if err != nil {
			return "", 0
		}
		return debugfile.Link(data, im.order)
	}
}
