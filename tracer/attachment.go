package tracer

// Attachment is what Count, Latency and Trace have attached. Its methods may be called from several
// goroutines.
type Attachment struct{ attached engine }

// engine is what all engines have.
type engine interface {
	ended() <-chan struct{}
	skipped() []*SiteError
	Close() error
}

func attached(t Target, e engine) Attachment {
	return Attachment{newEnding(e, t.pids, func() error { return nil })}
}

// Ended returns a channel that is closed after the last process of the target has ended, with
// Target.Follow the last of their children too. Then a Tracer has stopped by itself. A Path, and the
// kernel's tracepoints, have no end: it is nil.
func (a *Attachment) Ended() <-chan struct{} { return a.attached.ended() }

// Skipped returns the sites that are left out, because a probe there would do harm or the kernel refuses it;
// what is attached is the rest. With Later they may become more. When nothing would be left, attaching
// returns an error instead.
func (a *Attachment) Skipped() []*SiteError { return a.attached.skipped() }

// Close detaches and returns when no probe is left and the reference counters are lowered. Events
// that were not read are dropped, and a Read that waits returns os.ErrClosed. Further calls do
// nothing.
func (a *Attachment) Close() error { return a.attached.Close() }
