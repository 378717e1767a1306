package cli

import (
	"errors"
	"io/fs"
	"os"
)

// outputFile is a file of -o. What is in it stays until there is something to write instead: a
// command that fails before must not cost the results of the last one.
type outputFile struct {
	*os.File
	created bool // it was not there
	begun   bool
}

func openOutputFile(path string) (*outputFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		return &outputFile{File: f, created: true}, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666) // a link to nothing is there, and is not
	return &outputFile{File: f}, err
}

// begin empties the file. One that cannot be, a pipe or a terminal, has nothing in it.
func (f *outputFile) begin() {
	if !f.begun {
		f.begun = true
		_ = f.Truncate(0)
	}
}

func (f *outputFile) Write(p []byte) (int, error) {
	f.begin()
	return f.File.Write(p)
}

// Close leaves no empty file where there was none and nothing began.
func (f *outputFile) Close() error {
	if f.created && !f.begun {
		_ = os.Remove(f.Name())
	}
	return f.File.Close()
}
