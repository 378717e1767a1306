package cli

import (
	"context"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/recording"
	"github.com/waymark-trace/waymark/tracer"
)

// recordSource is an engine's end of a recording. Read is for one goroutine, the other methods for any.
type recordSource interface {
	// channel names the files that its events go to, and reasons why it loses events.
	channel() (name string, reasons []string)
	// Read reads the next event, whose memory it uses again. It returns io.EOF after Stop when all were read.
	Read(context.Context, *event.Event) error
	// losses tells the channel how many events each CPU has lost so far, a count for each of the reasons.
	losses(*recording.Channel) error
	// Skipped are the sites that are left out.
	Skipped() []*tracer.SiteError
	// Ended returns a channel that is closed when there is nobody left to wait for; it may be nil.
	Ended() <-chan struct{}
	Stop() error
	Close() error
}

// kernelSource is the kernel's engine.
type kernelSource struct{ *tracer.Tracer }

func (kernelSource) channel() (string, []string) { return "kernel", []string{"buffer_full"} }

// losses tells a channel how many events of each CPU found the kernel's buffer full.
func (k kernelSource) losses(c *recording.Channel) error {
	lost, err := k.LostByCPU()
	for cpu, n := range lost {
		if err == nil {
			err = c.SetLost(cpu, n)
		}
	}
	return err
}

// agentSource is what programs record themselves, in the order of time: a CPU is the P of Go's scheduler.
type agentSource struct{ kernelSource }

func (agentSource) channel() (string, []string) { return agentChannel, []string{"buffer_full"} }

const agentChannel = "agent"

// packedSource is the same without that order, which a trace does not need, and most of the cost.
type packedSource struct {
	kernelSource
	packed *recording.PackedChannel
}

func (s *packedSource) begin(trace *recording.Writer) (err error) {
	s.packed, err = trace.PackedChannel(agentChannel)
	return err
}

// losses has nothing to tell: batches know.
func (*packedSource) losses(*recording.Channel) error { return nil }

// tracepointSource is the kernel's own tracepoints.
type tracepointSource struct{ kernelSource }

func (tracepointSource) channel() (string, []string) { return "tracepoints", []string{"buffer_full"} }
