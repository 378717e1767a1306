package term

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// flushDelay is how long a line may stay in the buffer.
const flushDelay = 50 * time.Millisecond

// Output is where results go. Lines are buffered for a moment, because an event a system
// call is slow. After a write that went wrong it swallows everything and Close says why.
type Output struct {
	Style  Style         // of the results
	Failed chan struct{} // closed after the first write that went wrong

	mu      sync.Mutex
	buf     *bufio.Writer
	text    Writer       // above buf
	paced   *pacedWriter // below buf
	to      io.Writer
	file    *outputFile // what to close, nil when not ours
	pending bool        // a flush is under way
	err     error
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

// Stuck reports whether a write has been under way for so long.
func (o *Output) Stuck(d time.Duration) bool {
	begun := o.paced.begun.Load()
	return begun != nil && time.Since(*begun) >= d
}

// OpenOutput opens where results go, which is emptied when they begin: the file of -o ("-" is standard output), else standard
// output, or standard error when a command is run that has standard output for itself.
func (e *Env) OpenOutput(path string, command bool) (*Output, error) {
	o := &Output{Failed: make(chan struct{}), to: e.Stdout.to}
	if command && path == "" {
		o.to = e.Stderr.to
	}
	o.paced = &pacedWriter{Writer: o.to}
	if path != "" && path != "-" {
		f, err := openOutputFile(path)
		if err != nil {
			return nil, WithHint(err, "-o takes a file that may be written, in a directory that is there; - is standard output")
		}
		o.to, o.file, o.paced.Writer = f.File, f, f
	}
	o.Style = StyleFor(o.to)
	o.buf = bufio.NewWriterSize(o.paced, 64<<10)
	o.text = Writer{o.buf, o.Style.on}
	return o, nil
}

// WithOutput opens where results go, has write write them, and returns the first error of all.
func (e *Env) WithOutput(path string, write func(*Output) error) error {
	o, err := e.OpenOutput(path, false)
	if err != nil {
		return err
	}
	err = write(o)
	if e := o.Close(); err == nil {
		err = e
	}
	return err
}

// Write buffers p, which is whole lines, and sees to it that it is soon written.
func (o *Output) Write(p []byte) (int, error) { return o.write(&o.text, p) }

// control writes codes that move the cursor.
func (o *Output) control(codes string) error {
	_, err := o.write(o.buf, []byte(codes))
	return err
}

func (o *Output) write(w io.Writer, p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := w.Write(p)
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

// Flush writes what is buffered and returns the first error of all.
func (o *Output) Flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail(o.buf.Flush())
	return o.err
}

// fail notes the first error. The caller holds mu.
func (o *Output) fail(err error) {
	if err != nil && o.err == nil {
		o.err = err
		close(o.Failed)
	}
}

// Begin empties the file of -o, if there is one: from now on there are results, if only none.
func (o *Output) Begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file != nil {
		o.file.begin()
	}
}

// Close writes what is left and returns the first error of all.
func (o *Output) Close() error {
	err := o.Flush()
	if o.file != nil {
		if e := o.file.Close(); err == nil {
			err = e
		}
	}
	return err
}

// IsScreen reports whether results go to a terminal that can move its cursor.
func (o *Output) IsScreen() bool { return isScreen(o.to) }

// Beside reports whether results go elsewhere than to the terminal of e's messages.
func (o *Output) Beside(e *Env) bool { return !isScreen(e.Stderr.to) || !isScreen(o.to) }

// Width returns the width of the terminal in characters, 0 for other outputs.
func (o *Output) Width() int {
	width, _, _ := screenSize(o.to)
	return width
}

// IsBrokenPipe reports whether err says that whoever read the output went away, which ends
// a command but is nothing to complain about.
func IsBrokenPipe(err error) bool {
	return readerLeft(err) || errors.Is(err, io.ErrClosedPipe)
}

// outputFile is a file of -o. What is in it stays until there is something to write instead: a
// command that fails before must not cost the results of the last one.
type outputFile struct {
	*os.File
	created bool // it was not there
	begun   bool
}

func openOutputFile(path string) (*outputFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return &outputFile{File: f, created: true}, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600) // a link to nothing is there, and is not
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
