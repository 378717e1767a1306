//go:build linux && amd64 && !race

package patch

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/membarrier"
	"github.com/waymark-trace/waymark/internal/problem"
	"github.com/waymark-trace/waymark/internal/stub"
)

// state is the program's site table. It is filled before main and not changed then; what words
// say of their sites is under the mutex.
var state struct {
	sync.Mutex
	words []word // in the order of their addresses
	mem   int    // /proc/self/mem, open for writing, 0 before it is needed
}

// watchEvery is how long a kernel tracer may have raised a counter before the sites follow.
const watchEvery = 100 * time.Millisecond

// An optimized program has read its words before main runs; others do nothing here.
func init() {
	if _, size, _ := stub.Sites(); size != 0 {
		start()
	}
}

func start() {
	words, flags, err := readTable()
	if err != nil {
		problem.Report(errors.New("the sites of this program stay off: " + err.Error()))
		return
	}
	state.words = words
	look()
	if flags&markerabi.SitesNoWatch == 0 {
		go func() {
			for {
				time.Sleep(watchEvery)
				look()
			}
		}()
	}
}

// look patches the sites of the words that a kernel tracer has changed.
func look() {
	for i := range state.words {
		w := &state.words[i]
		state.Lock()
		known := w.err
		err := w.settle()
		state.Unlock()
		if err != nil && known == nil {
			problem.Report(err)
		}
	}
}

// Set makes the sites of an armed word live when it is not zero, and dead when it is. It
// does nothing for a word that has no optimized sites. When it returns without an error no
// thread executes what was there before.
func Set(armed *uint32) error {
	i, ok := slices.BinarySearchFunc(state.words, armed, compare)
	if !ok {
		return nil
	}
	state.Lock()
	defer state.Unlock()
	return state.words[i].settle()
}

// settle is Set under the lock. The word is read here: of two that change it, the later to come
// here patches by what both left.
func (w *word) settle() error {
	live := atomic.LoadUint32(w.armed) != 0
	if live == w.live {
		return nil
	}
	for i := range w.sites {
		if err := w.sites[i].patch(live); err != nil {
			for _, s := range w.sites[:i] {
				_ = s.patch(w.live) // it took the other byte just now
			}
			membarrier.Core()
			w.err = err
			return err
		}
	}
	membarrier.Core()
	w.live, w.err = live, nil
	return nil
}

// patch writes the byte of one site. What is neither of its two is not ours: a breakpoint.
func (s *site) patch(live bool) error {
	from, to := s.on, s.off
	if live {
		from, to = s.off, s.on
	}
	switch code(s.at) {
	case to:
		return nil
	case from:
		return write(s.at, to)
	}
	return errors.New("site at " + hex(s.at) + ": somebody else changed the code there, a debugger for one; end that first")
}

// write stores one byte into the text, which stays mapped without the right to write.
func write(at uintptr, b byte) error {
	if state.mem == 0 {
		fd, err := open("/proc/self/mem", syscall.O_RDWR)
		if err != nil {
			return wrapText(err)
		}
		state.mem = fd
	}
	for {
		n, err := syscall.Pwrite(state.mem, []byte{b}, int64(at))
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return wrapText(err)
		case n != 1 || code(at) != b:
			return ErrText
		default:
			return nil
		}
	}
}

func wrapText(err error) error { return &textError{err} }

type textError struct{ err error }

func (e *textError) Error() string   { return ErrText.Error() + ": " + e.err.Error() }
func (e *textError) Unwrap() []error { return []error{ErrText, e.err} }

func hex(at uintptr) string { return "0x" + strconv.FormatUint(uint64(at), 16) }
