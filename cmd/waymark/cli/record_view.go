package cli

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// recordView says how a recording is going and how it went.
type recordView struct {
	env   *Env
	out   *output
	o     *recordOptions
	shown bool
	last  uint64 // events at the last line
	at    time.Duration
}

func newRecordView(env *Env, out *output, o *recordOptions) *recordView {
	return &recordView{env: env, out: out, o: o}
}

// progress shows a line on a terminal, in place of the last one.
func (v *recordView) progress(sum *recording.Summary, now time.Duration) {
	if !isScreen(v.env.Stderr) {
		return
	}
	n := sum.Received
	line := fmt.Sprintf("waymark: %s, %s, %d lost, %s, %s", plural(n, "event"), rateText(perSecond(n-v.last, now-v.at)),
		sum.Total(), bytesText(sum.Bytes), seconds(now))
	v.last, v.at = n, now
	v.env.mu.Lock()
	defer v.env.mu.Unlock()
	fmt.Fprint(v.env.Stderr, "\r\x1b[K"+printable(line))
	v.shown = true
}

// done takes the line back.
func (v *recordView) done() {
	v.env.mu.Lock()
	defer v.env.mu.Unlock()
	if v.shown {
		fmt.Fprint(v.env.Stderr, "\r\x1b[K")
		v.shown = false
	}
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
		End       end        `json:"end"`
		Losses    []jsonLoss `json:"losses,omitempty"`
	} `json:"recording"`
}

type jsonLoss struct {
	Channel string `json:"channel"`
	CPU     int    `json:"cpu"`
	Reason  string `json:"reason"`
	Count   uint64 `json:"count"`
}

func (v *recordView) summary(sum *recording.Summary, elapsed time.Duration, why end, problems []error) error {
	saved, unwritten := sum.Saved(), sum.Unwritten()
	if v.o.json {
		v.env.warnLost(problems)
		var j jsonRecording
		s := &j.Recording
		s.Trace, s.Events, s.Lost, s.Unwritten = v.o.out, saved, sum.Total(), unwritten
		s.Bytes, s.Elapsed, s.End = sum.Bytes, elapsed.Seconds(), why
		for _, l := range sum.Lost {
			s.Losses = append(s.Losses, jsonLoss{l.Stream, l.CPU, l.Reason, l.Count})
		}
		return writeJSON(v.out, &j)
	}
	v.env.message("%s, %d lost, in %s, %s: %s in %s", plural(saved, "event"), sum.Total(), seconds(elapsed),
		rateText(perSecond(saved, elapsed)), bytesText(sum.Bytes), v.o.out)
	for _, l := range sum.Lost {
		v.env.message("lost on CPU %d: %d, %s", l.CPU, l.Count, strings.ReplaceAll(l.Reason, "_", " "))
	}
	if unwritten > 0 {
		v.env.message("%s received and not written", plural(unwritten, "event"))
	}
	v.env.warnLost(problems)
	if sum.Total() > 0 && len(problems) == 0 {
		v.env.hint("a larger --buffer, fewer markers or a shorter --max-string lose fewer")
	}
	return nil
}

// bytesText is a number of bytes for people.
func bytesText(n uint64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	x, i := float64(n), 0
	for x >= 1024 && i < len(units)-1 {
		x, i = x/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", x, units[i])
}

// circumstances are what the trace says of the session.
func (s *session) circumstances() []ctf.EnvEntry {
	env := []ctf.EnvEntry{recording.Text("target", s.named)}
	if info, ok := debug.ReadBuildInfo(); ok {
		env = append(env, recording.Text("tracer_version", info.Main.Version))
	}
	for i, f := range files(append(slices.Clone(s.markers), s.byAgents...)) {
		env = append(env, recording.Text(fmt.Sprintf("executable_%d", i), f.Path))
		if f.BuildID != "" {
			env = append(env, recording.Text(fmt.Sprintf("build_id_%d", i), f.BuildID))
		}
	}
	for i, pid := range append(slices.Clone(s.target.PIDs), s.agents.PIDs...) {
		env = append(env, recording.Number(fmt.Sprintf("pid_%d", i), int64(pid)))
	}
	return env
}

// explainDisk adds what helps when a trace could not be written.
func explainDisk(err error) error {
	if diskFull(err) {
		return withHint(err, "what was written until then is a valid trace; make room, or give -o another file system")
	}
	return err
}
