package ctf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxFiles bounds how many files a trace may have.
const maxFiles = 1 << 14

// Open opens the trace in a directory. If part of the metadata is damaged, or a file cannot be read, it
// returns both a trace of the readable part and an error about the rest; the trace is nil if nothing is
// readable.
func Open(dir string) (*Trace, error) {
	text, failure := readMetadata(dir)
	if failure != nil && text == "" {
		return nil, failure
	}
	t, err := parseMetadata(text)
	failure = errors.Join(failure, inDirectory(err, dir))
	if failure == nil && strings.TrimSpace(text) == "" {
		failure = &Error{filepath.Join(dir, "metadata"), 0, errors.New("it is empty")}
	}
	if failure != nil && len(t.Classes) == 0 {
		return nil, failure
	}
	// Without a declaration of a stream the trace is empty, as when its writer was killed before the first event.
	t.Dir = dir
	return t, errors.Join(failure, t.findStreams())
}

// inDirectory completes the name of the file in errors of metadata.
func inDirectory(err error, dir string) error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, e := range joined.Unwrap() {
			inDirectory(e, dir)
		}
	} else if e, ok := err.(*Error); ok {
		e.File = filepath.Join(dir, e.File)
	}
	return err
}

// findStreams finds the files with packets. Several can be of one stream.
func (t *Trace) findStreams() error {
	entries, err := os.ReadDir(t.Dir)
	if err != nil {
		return err
	}
	var errs []error
	known := map[[2]uint64]*Stream{}
	for _, entry := range entries {
		name := entry.Name()
		info, err := os.Stat(filepath.Join(t.Dir, name))
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || name == "metadata" || strings.HasPrefix(name, ".") {
			continue
		}
		if len(t.Streams) == maxFiles {
			errs = append(errs, fmt.Errorf("%s: more than %d files", t.Dir, maxFiles))
			break
		}
		s := t.look(name)
		if s.d.found[instanceRole] && s.Class != nil {
			key := [2]uint64{s.Class.ID, s.instance}
			if first := known[key]; first != nil {
				first.Files = append(first.Files, s.Files...)
				first.begins = append(first.begins, s.begins...)
				continue
			}
			known[key] = s
		}
		t.Streams = append(t.Streams, s)
	}
	for _, s := range t.Streams {
		s.sortFiles()
		s.d = decoder{}
	}
	return errors.Join(errs...)
}

// look returns the stream of a file, from its first packet. Next will report errors in it.
func (t *Trace) look(name string) *Stream {
	s := &Stream{trace: t, Files: []string{name}}
	if s.nextFile() == nil && s.nextPacket() == nil {
		s.instance = s.d.met[instanceRole]
	}
	begin := s.d.met[beginRole]
	s.close()
	return &Stream{trace: t, Files: s.Files, Class: s.Class, instance: s.instance, begins: []uint64{begin}, d: decoder{found: s.d.found}}
}

// sortFiles puts the files of a stream in the order of time.
func (s *Stream) sortFiles() {
	order := make([]int, len(s.Files))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := s.begins[a], s.begins[b]; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	files := make([]string, len(order))
	for i, from := range order {
		files[i] = s.Files[from]
	}
	s.Files, s.begins = files, nil
}

// openRegular opens a file that is one: a pipe would wait for a writer.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", path)
	}
	return os.Open(path)
}

// Find returns the directories at or below a path that hold a trace, as LTTng makes several at once.
func Find(path string) ([]string, error) {
	var dirs []string
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != path && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case !d.IsDir() && d.Name() == "metadata":
			dirs = append(dirs, filepath.Dir(name))
		}
		if len(dirs) > maxFiles {
			return fmt.Errorf("%s: more than %d traces", path, maxFiles)
		}
		return nil
	})
	return dirs, err
}
