package history

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waymark-trace/waymark/internal/procfs"
)

// Words of the control file, which the program has mapped: struct control in testdata/marks.c.
const (
	wordGate = iota
	wordOver
	wordNext
	wordPID
	wordImage
	wordThreads
	wordBurst
	wordPause
	wordForks
	wordLocked
	wordExec
	wordStatus
	wordCalm
	wordRefused
	wordByFirst
	wordByOther
	wordArmed
	controlWords
)

// Words at the beginning of a thread's file, struct file there; marks follow.
const (
	noteID = iota
	notePID
	noteTID
	noteImage
	noteChild
	noteBorn
	noteState
	noteGoroutine
	noteWords
)

const (
	stateParked  = 1
	stateEnded   = 2
	markSize     = 24
	controlBytes = 4096
)

// now returns CLOCK_MONOTONIC, on which programs and tracers note times.
func now() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}

// program is the program that marks.
type program struct {
	t       *testing.T
	dir     string
	path    string
	control *os.File
	cmd     *exec.Cmd // the program, or the tracer that starts it
	stdout  bytes.Buffer
	stderr  bytes.Buffer
	done    chan struct{} // closed when cmd has ended
	err     error         // of it
	status  string        // how the program has ended

	gate     sync.Mutex  // held while it is closed
	killed   atomic.Bool // by a strike
	orphaned atomic.Bool // the tracer that has started it was killed
}

func newProgram(t *testing.T, dir, path string, p *plan) *program {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "control"), os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = f.Truncate(controlBytes)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	pr := &program{t: t, dir: dir, path: path, control: f, done: make(chan struct{})}
	for word, n := range map[int]int{
		wordThreads: p.threads, wordBurst: p.burst, wordPause: int(p.pause.Microseconds()), wordForks: p.forks,
		wordLocked: btoi(p.locked), wordStatus: p.status, wordCalm: 1,
	} {
		pr.set(word, uint64(n))
	}
	return pr
}

func (p *program) set(word int, n uint64) {
	if _, err := p.control.WriteAt(binary.NativeEndian.AppendUint64(nil, n), int64(8*word)); err != nil {
		panic(err)
	}
}

func (p *program) get(word int) uint64 { return wordOf(p.control, word) }

func wordOf(f *os.File, word int) uint64 {
	var b [8]byte
	if _, err := f.ReadAt(b[:], int64(8*word)); err != nil {
		return 0
	}
	return binary.NativeEndian.Uint64(b[:])
}

// image returns the number of the program that the process executes, 0 while it is being replaced: a thread counts
// that before it calls execve, and the next program once it runs.
func (p *program) image() int {
	image := p.get(wordImage)
	if p.get(wordByFirst)+p.get(wordByOther) != image-1 {
		return 0
	}
	return int(image)
}

func (p *program) pid() int { return int(p.get(wordPID)) }

// start starts the program, by argv in front of it where a tracer does.
func (p *program) start(argv, env []string) error {
	argv = append(argv, p.path, p.dir)
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.t.Cleanup(func() { syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) })
	go func() {
		p.err = p.cmd.Wait() // for the program, too: it has the other ends of the pipes
		p.status = fmt.Sprint(p.err)
		if p.orphaned.Load() {
			p.status = p.adopt()
		}
		close(p.done)
	}()
	return nil
}

// adopt waits for a program whose tracer, which was its parent, has been killed, and returns how it ended as an error of
// package exec has it.
func (p *program) adopt() string {
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(p.pid(), &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return err.Error()
		case status.Signaled():
			return "signal: " + status.Signal().String()
		case status.ExitStatus() != 0:
			return fmt.Sprint("exit status ", status.ExitStatus())
		default:
			return fmt.Sprint(nil)
		}
	}
}

// running waits until the program's threads are there, and reports false if it has ended.
func (p *program) running() bool {
	return p.wait(func() bool {
		files := p.files()
		for _, f := range files {
			f.Close()
		}
		return len(files) >= int(p.get(wordThreads))
	})
}

// wait waits for a condition, at most two minutes, and reports false if the program ended first.
func (p *program) wait(ok func() bool) bool {
	for range 60_000 {
		if ok() {
			return true
		}
		select {
		case <-p.done:
			return ok()
		case <-time.After(2 * time.Millisecond):
		}
	}
	return false
}

// files opens the notes of all threads.
func (p *program) files() (all []*os.File) {
	names, err := filepath.Glob(p.dir + "/*.marks")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		if f, err := os.Open(name); err == nil {
			all = append(all, f)
		}
	}
	return all
}

// close closes the gate and returns when no thread marks. It reports false if the program ended first, or if that took two minutes.
func (p *program) close() bool {
	p.gate.Lock()
	p.set(wordGate, 1)
	parked := map[string]bool{} // by name: those that have ended, and stay so
	return p.wait(func() bool {
		names, _ := filepath.Glob(p.dir + "/*.marks")
		image := p.get(wordImage)
		for _, name := range names {
			if parked[name] {
				continue
			}
			f, err := os.Open(name)
			if err != nil {
				return false
			}
			state, pid := wordOf(f, noteState), int(wordOf(f, notePID))
			gone := state == stateEnded || wordOf(f, noteChild) == 0 && wordOf(f, noteImage) != image || !alive(pid)
			f.Close()
			if gone {
				parked[name] = true
			} else if state != stateParked {
				return false
			}
		}
		return true
	})
}

// open opens the gate.
func (p *program) open() {
	p.set(wordGate, 0)
	p.gate.Unlock()
}

func alive(pid int) bool {
	s, err := procfs.ReadStat(pid)
	return err == nil && s.State != 'Z' && s.State != 'X'
}

// threads reads what all threads have written.
func (p *program) threads() ([]*thread, error) {
	var all []*thread
	for _, f := range p.files() {
		t, err := readNotes(f)
		f.Close()
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func readNotes(f *os.File) (*thread, error) {
	head := make([]byte, 8*noteWords)
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Name(), err)
	}
	word := func(b []byte, i int) int64 { return int64(binary.NativeEndian.Uint64(b[8*i:])) }
	t := &thread{
		id: uint32(word(head, noteID)), pid: int(word(head, notePID)), tid: int(word(head, noteTID)), image: int(word(head, noteImage)),
		child: word(head, noteChild) != 0, born: word(head, noteBorn), goroutine: word(head, noteGoroutine),
	}
	if name := strings.TrimSuffix(filepath.Base(f.Name()), ".marks"); name != strconv.Itoa(int(t.id)) {
		return nil, fmt.Errorf("%s has the number %d", f.Name(), t.id)
	}
	buffer := make([]byte, 4096*markSize)
	for at := int64(len(head)); ; {
		n, err := f.ReadAt(buffer, at)
		for b := buffer[:n-n%markSize]; len(b) > 0; b = b[markSize:] {
			m := mark{word(b, 0), word(b, 1), word(b, 2)}
			if m.begin == 0 {
				return t, nil
			}
			t.marks = append(t.marks, m)
		}
		if at += int64(n - n%markSize); errors.Is(err, io.EOF) {
			return t, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading %s: %w", f.Name(), err)
		}
	}
}
