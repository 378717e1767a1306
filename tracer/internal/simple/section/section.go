// Package section reads and writes the records of simple markers: five strings each, in
// a section of an ELF file that is never loaded. The version of the record is part of the
// section's name, so that a file can have several and a reader takes those it knows.
//
// The format is that of the "simple dprobe like markers" which J. Bottomley proposed for the
// Linux kernel (systemtap@sourceware.org, July 2008), whose macro writes the same section.
package section

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/internal/elffile"
)

// Section is the section that this package writes.
const Section = prefix + known

const (
	prefix = "__simple_marker."
	known  = "1" // the version; others, of one digit, are reported as not known
)

// Limits of what is read, in bytes. A path is as long as Linux takes them.
const (
	MaxSize   = 16 << 20
	maxName   = 256
	maxPath   = 4096
	maxText   = 4096
	maxDigits = 9
)

// Record is one simple marker.
type Record struct {
	Name        string `json:"name"` // of the marker, subsystem:component
	File        string `json:"file"` // as the compiler was given it
	Line        int    `json:"line"`
	Description string `json:"description"`         // printf's format, a conversion for each variable
	Variables   string `json:"variables,omitempty"` // expressions as they stand in the source, with commas between
}

// Read reads the records of an ELF file. One without any is no error; what is wrong with
// single records is among problems.
func Read(im *elffile.Image) (records []Record, problems []error, err error) {
	section := find(im)
	if section == nil {
		return nil, nil, nil
	}
	name := im.Name(section)
	data, err := im.Data(section, MaxSize)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("reading section %s of %s: %w", name, im.Path(), err)
	case name != Section:
		return nil, nil, fmt.Errorf("reading section %s of %s: a version of simple markers that this waymark does not know", name, im.Path())
	}
	records, problems = Parse(data)
	for i, p := range problems {
		problems[i] = fmt.Errorf("section %s of %s: %w", name, im.Path(), p)
	}
	return records, problems, nil
}

// find returns the section with the records: that of the version that is known, else one of another version,
// nil for none. It passes over the names once.
func find(im *elffile.Image) (other *elffile.Section) {
	for i := range im.Sections {
		s := &im.Sections[i]
		if !im.HasPrefix(s, prefix) {
			continue
		}
		switch version, isVersion := strings.CutPrefix(im.Name(s), prefix); {
		case version == known:
			return s
		case other == nil && isVersion && len(version) == 1 && version[0] >= '2' && version[0] <= '9':
			other = s
		}
	}
	return other
}

// Parse reads the bytes of the section. Records that are there twice count once: a function
// that is inlined, or in a header, brings its record along each time.
func Parse(data []byte) (records []Record, problems []error) {
	seen := make(map[Record]bool)
	for at := 0; at < len(data); {
		if data[at] == 0 { // what linkers put between files; no marker is without a name
			at++
			continue
		}
		fields, n := split(data[at:])
		if n == 0 {
			return records, append(problems, fmt.Errorf("simple marker at byte %d: cut off", at))
		}
		r, err := decode(fields)
		switch {
		case err != nil && len(problems) < 100:
			problems = append(problems, fmt.Errorf("simple marker at byte %d: %w", at, err))
		case err == nil && !seen[r]:
			seen[r] = true
			records = append(records, r)
		}
		at += n
	}
	return records, problems
}

// split returns the five strings at the start of data and how long they are with their NULs,
// 0 when there are fewer.
func split(data []byte) (fields [5][]byte, n int) {
	for i := range fields {
		end := bytes.IndexByte(data[n:], 0)
		if end < 0 {
			return fields, 0
		}
		fields[i] = data[n : n+end]
		n += end + 1
	}
	return fields, n
}

func decode(f [5][]byte) (Record, error) {
	for i, limit := range [5]int{maxName, maxPath, maxDigits, maxText, maxText} {
		if len(f[i]) > limit {
			return Record{}, fmt.Errorf("its %s has %d bytes, at most %d are read", parts[i], len(f[i]), limit)
		}
	}
	line, err := strconv.ParseUint(string(f[2]), 10, 31)
	if err != nil || line == 0 {
		return Record{}, fmt.Errorf("its line is %q", f[2])
	}
	return Record{string(f[0]), string(f[1]), int(line), string(f[3]), string(f[4])}, nil
}

var parts = [5]string{"name", "file", "line", "description", "list of variables"}

// Append appends a record as it stands in the section.
func Append(out []byte, r Record) ([]byte, error) {
	fields := [5][]byte{[]byte(r.Name), []byte(r.File), strconv.AppendInt(nil, int64(r.Line), 10), []byte(r.Description), []byte(r.Variables)}
	for i, f := range fields {
		if bytes.IndexByte(f, 0) >= 0 {
			return nil, fmt.Errorf("simple marker %q: its %s has a NUL", r.Name, parts[i])
		}
	}
	if r.Name == "" {
		return nil, errors.New("a simple marker has no name")
	}
	if _, err := decode(fields); err != nil {
		return nil, fmt.Errorf("simple marker %q: %w", r.Name, err)
	}
	for _, f := range fields {
		out = append(append(out, f...), 0)
	}
	return out, nil
}
