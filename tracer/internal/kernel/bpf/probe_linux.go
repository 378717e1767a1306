package bpf

import (
	"errors"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/rlimit"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/guard"
)

// Features says of what attaching makes use of whether the kernel has it: nil,
// ErrNotSupported, or an error when it could not be told.
type Features struct {
	Multi      error // links of type uprobe_multi
	Cookies    error // of perf events
	RingBuffer error
	Types      error // the kernel's description of its types
}

// AskFeatures asks the kernel.
func AskFeatures() Features {
	_ = rlimit.RemoveMemlock() // as attach does, and for the same reason
	_, types := loadKernelTypes()
	return Features{
		Multi:      haveMulti(),
		Cookies:    haveCookies(),
		RingBuffer: features.HaveMapType(ebpf.RingBuf),
		Types:      types,
	}
}

// TryGuard starts a guard and ends it.
func TryGuard() error {
	g, err := guard.Start()
	if err != nil {
		return err
	}
	return g.Close()
}

// TryCount attaches to an instruction of a file in one process, for counting, and detaches. It
// returns the way in which that went.
func TryCount(f *os.File, offset uint64, pid int) (Mode, error) {
	c, err := NewCounter(Options{})
	if err != nil {
		return Auto, err
	}
	if _, err := c.Add([]File{{Opened: f, Sites: []Site{{Offset: offset}}}}, 1, []int{pid}); err != nil {
		return Auto, errors.Join(err, c.Close())
	}
	mode := c.held.mode // Close forgets it
	return mode, c.Close()
}

// TryTrace is TryCount for events.
func TryTrace(f *os.File, offset uint64, pid int) error {
	t, err := NewTracer(Options{BufferSize: os.Getpagesize()})
	if err != nil {
		return err
	}
	site := Site{Offset: offset, Plan: &Plan{Goid: -1}}
	_, err = t.Add([]File{{Opened: f, Sites: []Site{site}}}, 1, []int{pid})
	return errors.Join(err, t.Close())
}
