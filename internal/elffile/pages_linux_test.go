package elffile

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

// guard calls do and returns its panic as an error.
func guard(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return do()
}

// A file that is cut off while it is mapped is an error, not the end of the process.
func TestCutOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, make([]byte, 64<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, m, err := mapped(f, 5000, 20000)
	if err != nil || len(data) != 20000 {
		t.Fatal(len(data), err)
	}
	defer m.unmap()
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	sum := 0
	if err := guard(func() error {
		for _, b := range data {
			sum += int(b)
		}
		return nil
	}); err == nil {
		t.Error("read what the file does not have any more")
	}
	if _, _, err := mapped(f, 0, 101); err == nil {
		t.Error("mapped more than there is")
	}
}
