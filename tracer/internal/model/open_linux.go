package model

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	"github.com/waymark-trace/waymark/internal/bpf"
	"github.com/waymark-trace/waymark/internal/feature"
	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/procfs"
)

// Reopen opens the file that Find read.
func Reopen(f *File) (*os.File, error) {
	if f.machine != bpf.Machine(runtime.GOARCH) {
		return nil, fmt.Errorf("%s is for %v, this machine runs %s: %w", f.Path, f.machine, runtime.GOARCH, ErrNotSupported)
	}
	return f.open()
}

// open returns a new descriptor of the file that Find read, if the file is still at one of its
// paths. It duplicates the descriptor that Find holds, or else opens the file again.
func (f *File) open() (*os.File, error) {
	var denied error
	changed := fmt.Errorf("%s %w", f.Path, ErrChanged)
	for _, path := range f.opens {
		if f.held != nil && identify(path) == f.id {
			return duplicate(f.held)
		}
		opened, id, err := OpenFile(path)
		switch {
		case err == nil && id == f.id:
			return opened, nil
		case err == nil:
			opened.Close()
		case errors.Is(err, os.ErrPermission):
			denied = err
		}
	}
	if denied != nil {
		return nil, Permission("opening "+f.Path, procfs.CheckpointRestore, denied)
	}
	return nil, changed
}

// StubShift returns how far behind its location a marker's site is probed: at the second nop
// of a stub of a linked Go program where that is the one this kernel makes fast.
func StubShift(m *Marker, site int, file io.ReaderAt) uint64 {
	if site >= len(m.records) || m.records[site] == nil {
		return 0
	}
	if g, err := feature.UprobeGeneration(); err != nil || g != feature.Nop10 {
		return 0
	}
	var code [markerabi.StubSize]byte
	n, _ := file.ReadAt(code[:], int64(m.Sites[site].Offset))
	if !slices.Equal(code[:n], markerabi.Stub[:]) {
		return 0
	}
	return markerabi.StubNop10
}

// NotSupported makes the eBPF library's error this package's.
func NotSupported(err error) error {
	if errors.Is(err, bpf.ErrNotSupported) {
		return fmt.Errorf("%w: %w", ErrNotSupported, err)
	}
	return err
}
