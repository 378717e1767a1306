package term

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// NotifySignals returns a context that Ctrl-C and SIGTERM end, so that what is under way
// ends in order. The second such signal ends waymark at once; the kernel then detaches for it.
//
// A terminal that is closed ends it in order too, unless nohup has it ignored. Of that signal
// there may be two, from the kernel and from the shell: they never end it at once.
//
// SIGPIPE is caught too, and thereby turned into an error of the write: a command that
// waymark runs still gets it as usual, which it would not had waymark ignored it.
func NotifySignals(parent context.Context, env *Env) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	hangup := make(chan os.Signal, 1)
	for _, s := range hangupSignals {
		if !signal.Ignored(s) {
			signal.Notify(hangup, s)
		}
	}
	pipe := make(chan os.Signal, 1)
	if len(pipeSignals) > 0 {
		signal.Notify(pipe, pipeSignals...)
	}
	done := make(chan struct{})
	go func() {
		asked := false
		for {
			select {
			case <-done:
				return
			case <-hangup:
			case <-signals:
				if asked {
					env.interruptNow()
				}
				asked = true
			}
			cancel()
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(hangup)
		signal.Stop(pipe)
		close(done)
		cancel()
	}
}

// interruptNow ends waymark, and the command that it runs.
func (e *Env) interruptNow() {
	if f := e.interrupt.Load(); f != nil {
		(*f)()
	}
	os.Exit(StatusInterrupted)
}

// OnSecondInterrupt sets what a second signal does first.
func (e *Env) OnSecondInterrupt(f func()) {
	e.interrupt.Store(&f)
}
