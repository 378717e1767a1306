//go:build linux && amd64 && !race

package patch

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/waymark-trace/waymark/internal/inproc/membarrier"
	"github.com/waymark-trace/waymark/internal/inproc/problem"
	"github.com/waymark-trace/waymark/internal/inproc/stub"
	"github.com/waymark-trace/waymark/internal/markerabi"
)

// state is the program's site table. It is filled before main and not changed afterwards; the mutex
// guards the state of sites.
var state struct {
	sync.Mutex
	words  []word // in the order of their addresses
	broken error  // why there are none although link left a table
	told   bool   // of the last error of the watcher
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
		state.broken = err
		problem.Report(err)
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

// look patches the sites of the words that a kernel tracer has changed. An error of one site would
// repeat for others, so it is reported once.
func look() {
	for i := range state.words {
		state.Lock()
		err := state.words[i].settle()
		tell := err != nil && !state.told
		state.told = state.told || tell
		state.Unlock()
		if tell {
			problem.Report(err)
		}
	}
}

// Set makes the sites of an armed word live when it is not zero, and dead when it is. It
// does nothing for a word that has no optimized sites. After it returned without an error no
// thread executes the previous code.
func Set(armed *uint32) error {
	if state.broken != nil {
		return state.broken // it may have sites at unknown addresses
	}
	i, ok := slices.BinarySearchFunc(state.words, armed, compare)
	if !ok {
		return nil
	}
	state.Lock()
	defer state.Unlock()
	return state.words[i].settle()
}

// settle is Set under the lock. The word is read here: of two callers that changed it, the later one
// patches by the result of both.
func (w *word) settle() error {
	live := atomic.LoadUint32(w.armed) != 0
	if live == w.live {
		return w.repair()
	}
	mem, err := openText()
	if err != nil {
		return err
	}
	defer mem.close()
	for i := range w.sites {
		if err := mem.patch(&w.sites[i], live); err != nil {
			for j := range w.sites[:i] {
				_ = mem.patch(&w.sites[j], w.live) // it took the other byte just now
			}
			membarrier.Core()
			return err
		}
	}
	membarrier.Core()
	w.live, state.told = live, false
	return nil
}

// repair patches sites again that have the byte of the file. The kernel puts that there when a
// uprobe leaves, whatever was there when it came.
func (w *word) repair() error {
	if w.live == w.first { // nothing was patched, and reading would make pages resident
		return nil
	}
	for i := range w.sites {
		s := &w.sites[i]
		if codeAt(s.at) != s.code(!w.live) {
			continue
		}
		mem, err := openText()
		if err != nil {
			return err
		}
		err = mem.patch(s, w.live)
		mem.close()
		if err != nil {
			return err
		}
		membarrier.Core()
	}
	return nil
}

// code returns the code of a live site, or of a dead one.
func (s *site) code(live bool) code {
	if live {
		return s.on
	}
	return s.off
}

// text is /proc/self/mem. It is opened each time: a program may close descriptors that it does
// not know, and the number may then belong to another file.
type text int

func openText() (text, error) {
	fd, err := open("/proc/self/mem", syscall.O_RDWR)
	if err != nil {
		return 0, &failure{"opening /proc/self/mem", err}
	}
	return text(fd), nil
}

func (t text) close() { _ = syscall.Close(int(t)) }

// patch writes the code of one site. If the code there is neither of its two, another tool wrote it,
// such as a breakpoint, and it stays.
func (t text) patch(s *site, live bool) error {
	switch codeAt(s.at) {
	case s.code(live):
		return nil
	case s.code(!live):
		if s.whole() {
			return t.write(s.at, s.code(live))
		}
	}
	return &failure{"somebody else, a debugger perhaps, changed the code at " + hex(s.at), nil}
}

// write stores into the text, which stays mapped without the right to write.
func (t text) write(at uintptr, c code) error {
	b := c.bytes()
	for {
		n, err := syscall.Pwrite(int(t), b, int64(at))
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return &failure{"writing its code (a seccomp filter, SELinux or proc_mem.force_override refuses; link it without --optimize)", err}
		case n != len(b) || codeAt(at) != c:
			return &failure{"what was written to its code is not there", nil}
		default:
			return nil
		}
	}
}

func hex(at uintptr) string { return "0x" + strconv.FormatUint(uint64(at), 16) }
