package view

import (
	"strings"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/recording"
)

// RecordView says how a recording is going and how it went.
type RecordView struct {
	Env  *term.Env
	JSON bool
	Dir  string // of the trace
	last uint64 // events at the last line
	at   time.Duration
}

// Progress shows a line on a terminal, in place of the last one.
func (v *RecordView) Progress(sum *recording.Summary, now time.Duration) {
	n := sum.Received
	v.Env.Status("waymark: %s, %s, %d lost, %s, %s", term.Plural(n, "event"), rateText(perSecond(n-v.last, now-v.at)),
		sum.Total(), BytesText(sum.Bytes), Seconds(now))
	v.last, v.at = n, now
}

// jsonRecording is what record --json prints.
type jsonRecording struct {
	Recording struct {
		Trace     string     `json:"trace"`
		Events    uint64     `json:"events"`
		Lost      uint64     `json:"lost"`
		Unwritten uint64     `json:"unwritten"`
		Bytes     uint64     `json:"bytes"`
		Elapsed   float64    `json:"elapsed_s"`
		End       End        `json:"end"`
		Losses    []jsonLoss `json:"losses,omitempty"`
	} `json:"recording"`
}

type jsonLoss struct {
	Channel string `json:"channel"`
	CPU     int    `json:"cpu"`
	Reason  string `json:"reason"`
	Count   uint64 `json:"count"`
}

// Summary prints what was recorded and what was lost.
func (v *RecordView) Summary(out *term.Output, sum *recording.Summary, elapsed time.Duration, why End, problems []error) error {
	saved, unwritten := sum.Saved(), sum.Unwritten()
	if v.JSON {
		WarnLost(v.Env, problems)
		var j jsonRecording
		s := &j.Recording
		s.Trace, s.Events, s.Lost, s.Unwritten = v.Dir, saved, sum.Total(), unwritten
		s.Bytes, s.Elapsed, s.End = sum.Bytes, elapsed.Seconds(), why
		for _, l := range sum.Lost {
			s.Losses = append(s.Losses, jsonLoss{l.Stream, l.CPU, l.Reason, l.Count})
		}
		return WriteJSON(out, &j)
	}
	v.Env.Message("%s, %d lost, in %s, %s: %s in %s", term.Plural(saved, "event"), sum.Total(), Seconds(elapsed),
		rateText(perSecond(saved, elapsed)), BytesText(sum.Bytes), v.Dir)
	for _, l := range sum.Lost {
		v.Env.Message("lost on CPU %d: %d, %s", l.CPU, l.Count, strings.ReplaceAll(l.Reason, "_", " "))
	}
	if unwritten > 0 {
		v.Env.Message("%s received and not written", term.Plural(unwritten, "event"))
	}
	WarnLost(v.Env, problems)
	if sum.Total() > 0 && len(problems) == 0 {
		v.Env.Hint("a larger --buffer, fewer markers or a shorter --max-string lose fewer")
	}
	return nil
}
