package cli

import (
	"bufio"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// flushDelay is how long a line may stay in the buffer.
const flushDelay = 50 * time.Millisecond

// output is where results go. Lines are buffered for a moment, because an event a system
// call is slow. After a write that went wrong it swallows everything and Close says why.
type output struct {
	mu      sync.Mutex
	buf     *bufio.Writer
	to      io.Writer
	file    *outputFile // what to close, nil when not ours
	pending bool        // a flush is under way
	err     error
	failed  chan struct{} // closed when err is set
	paced   *pacedWriter  // below buf
}

// pacedWriter knows how long a write takes: to a pipe whose reader is stopped, for ever.
type pacedWriter struct {
	io.Writer
	begun atomic.Pointer[time.Time] // when that which is under way did
}

func (w *pacedWriter) Write(p []byte) (int, error) {
	now := time.Now()
	w.begun.Store(&now)
	defer w.begun.Store(nil)
	return w.Writer.Write(p)
}

// stuck reports whether a write has been under way for so long.
func (o *output) stuck(d time.Duration) bool {
	begun := o.paced.begun.Load()
	return begun != nil && time.Since(*begun) >= d
}

// openOutput opens where results go, which is emptied when they begin: the file of -o ("-" is standard output), else standard
// output, or standard error when a command is run that has standard output for itself.
func (e *Env) openOutput(path string, command bool) (*output, error) {
	o := &output{failed: make(chan struct{})}
	var w io.Writer
	switch {
	case path == "-":
		o.to = e.Stdout
	case path != "":
		f, err := openOutputFile(path)
		if err != nil {
			return nil, explainOutput(err)
		}
		o.to, o.file, w = f.File, f, f
	case command:
		o.to = e.Stderr
	default:
		o.to = e.Stdout
	}
	if w == nil {
		w = o.to
	}
	o.paced = &pacedWriter{Writer: w}
	o.buf = bufio.NewWriterSize(o.paced, 64<<10)
	return o, nil
}

// Write buffers p, which is whole lines, and sees to it that it is soon written.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.buf.Write(p)
	o.fail(err)
	if err == nil && !o.pending {
		o.pending = true
		time.AfterFunc(flushDelay, func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.pending = false
			o.fail(o.buf.Flush())
		})
	}
	return n, err
}

func (o *output) flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail(o.buf.Flush())
	return o.err
}

// fail notes the first error. The caller holds mu.
func (o *output) fail(err error) {
	if err != nil && o.err == nil {
		o.err = err
		close(o.failed)
	}
}

// begin empties the file of -o, if there is one: from now on there are results, if only none.
func (o *output) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file != nil {
		o.file.begin()
	}
}

// Close writes what is left and returns the first error of all.
func (o *output) Close() error {
	err := o.flush()
	if o.file != nil {
		if e := o.file.Close(); err == nil {
			err = e
		}
	}
	return err
}

// isBrokenPipe reports whether err says that whoever read the output went away, which ends
// a command but is nothing to complain about.
func isBrokenPipe(err error) bool {
	return readerLeft(err) || errors.Is(err, io.ErrClosedPipe)
}
