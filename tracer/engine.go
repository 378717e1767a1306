package tracer

import (
	"context"
	"errors"
	"fmt"
)

// Engine is what looks at the markers of a target.
type Engine uint8

const (
	// EngineAuto is the agent's for processes that all have agents, where this process may not use the kernel's, or
	// where the kernel's sees no markers in the processes; else the kernel's, whose errors then say what is missing.
	EngineAuto Engine = iota
	// EngineKernel is uprobes and eBPF: any program with SDT markers, whether it helps or not. It needs privilege.
	EngineKernel
	// EngineAgent is the agent in a Go program that imports package agent. It needs no privilege but to be
	// of the same user, is an order of magnitude faster, and needs no waymark link.
	EngineAgent
)

func (e Engine) String() string {
	switch e {
	case EngineAuto:
		return "auto"
	case EngineKernel:
		return "kernel"
	case EngineAgent:
		return "agent"
	}
	return fmt.Sprintf("Engine(%d)", uint8(e))
}

// Attachment is what Count, Latency and Trace have attached. Its methods may be called from several
// goroutines.
type Attachment struct{ attached engine }

// engine is what all engines have.
type engine interface {
	ended() <-chan struct{}
	skipped() []*SiteError
	missing() error
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

// Missing returns the error of a name in the options that none of Later's markers has that were attached
// so far: the one with which Count, Latency and Trace refuse markers that are there at first. It is nil
// where there were any at first, and as long as there are none. After Close it is what it was then.
func (a *Attachment) Missing() error { return a.attached.missing() }

// Close detaches and returns when no probe is left and the reference counters are lowered. Events
// that were not read are dropped, and a Read that waits returns os.ErrClosed. Further calls do
// nothing.
func (a *Attachment) Close() error { return a.attached.Close() }

// GuardMain enables a guard: a second process of the same executable that attaches to markers, and
// detaches when this process ends for any reason. Call it as the first statement of main, before
// flags are parsed and goroutines are started. In the guard it does not return.
//
//	func main() {
//		tracer.GuardMain()
//		…
//	}
//
// Programs that do not call GuardMain can trace too, but attach by themselves. If such a process
// gets SIGKILL in the milliseconds while it attaches or detaches, the kernel can leak reference
// counters, which waymark doctor -p PID --repair lowers.
//
// The guard runs the init functions of the program's packages, as every process of the program
// does. It refuses to run unless no_new_privs is set, so it gains no privilege over its parent.
func GuardMain() { guardMain() }

// ErrNotPatched says that sites of a process do not follow what a tracer wants of them.
var ErrNotPatched = errors.New("its optimized sites do not follow")

// AwaitPatched waits for processes of t that run a program which went through "waymark link --optimize".
// Such a program looks every 100 ms which of its markers Count, Trace and Latency want, and only then
// do passes count; one that was started later looked before its main function ran. AwaitPatched
// returns when all processes have done so, and at once when none is such a program. After two seconds,
// or when a program was told not to look (--no-watch), the error wraps ErrNotPatched.
func AwaitPatched(ctx context.Context, t Target, markers []*Marker) error {
	return awaitPatched(ctx, t, markers)
}
