package point

// wrapped is an error with the operation before it. Package fmt would do the same, but it
// initializes os, which allocates in programs that use neither.
type wrapped struct {
	doing string
	err   error
}

// Wrap returns an error that reads "doing: err" and wraps err.
func Wrap(doing string, err error) error { return &wrapped{doing, err} }

func (w *wrapped) Error() string { return w.doing + ": " + w.err.Error() }
func (w *wrapped) Unwrap() error { return w.err }
