package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// A line is an object of waymark trace, stat, latency or record, with the keys that are checked.
type line struct {
	Marker    string
	Time      int64 `json:"monotonic_ns"`
	PID, TID  int
	CPU       int
	Goroutine int64
	Fields    map[string]json.RawMessage

	Count, Delta uint64
	Final        bool
	End          string

	Pairs    uint64
	Max      uint64 `json:"max_ns"`
	Unpaired struct{ From, To, Nested, Full, Unread, Lost uint64 }

	Summary   *totals
	Recording *totals
}

type totals struct {
	Events, Lost, Unwritten, Late uint64
	End                           string
}

// collect reads what the tracer left.
func (s *tracing) collect() error {
	switch s.verb {
	case "record":
		return s.readTrace()
	case "flight":
		err := s.readTrace()
		s.summary, s.reported = true, uint64(len(s.events))
		return err
	case "trace":
		return s.readLines()
	}
	return s.readCounts()
}

// lines yields the objects of a file; a tracer that was killed may leave a part of the last one.
func (s *tracing) lines(path string, yield func(*line) error) error {
	f, err := os.Open(path)
	if os.IsNotExist(err) && (s.err != nil || s.flown) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	for {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			if len(text) > 0 && s.err == nil {
				return fmt.Errorf("%s ends in %q", path, text)
			}
			return nil
		}
		if err != nil {
			return err
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return fmt.Errorf("%s has %q: %w", path, text, err)
		}
		if err := yield(&l); err != nil {
			return err
		}
	}
}

func (s *tracing) readLines() error {
	s.listed = true
	return s.lines(filepath.Join(s.dir, "output"), func(l *line) error {
		if l.Summary != nil {
			s.summary, s.losses = true, true
			s.lost, s.reported, s.late, s.end = l.Summary.Lost, l.Summary.Events, l.Summary.Late, l.Summary.End
			return nil
		}
		e := received{kind: slices.Index(markNames[:], l.Marker), time: l.Time, pid: l.PID, tid: l.TID, cpu: l.CPU, goroutine: l.Goroutine}
		id, seq, third := "thread", "seq", map[int]string{markMark: "text", markDone: "check"}[e.kind]
		if !s.run.plan.form.isGo() {
			id, seq, third = "arg1", "arg2", "arg3"
		}
		if e.kind < 0 {
			return fmt.Errorf("an event of %s", l.Marker)
		}
		if err := errors.Join(json.Unmarshal(l.Fields[id], &e.id), json.Unmarshal(l.Fields[seq], &e.seq)); err != nil {
			return fmt.Errorf("fields %s: %w", l.Fields, err)
		}
		if third == "text" {
			var text string
			err := json.Unmarshal(l.Fields[third], &text)
			e.wrongValue = err != nil || text != checkText(e.id, e.seq)
		} else {
			var check json.Number
			err := json.Unmarshal(l.Fields[third], &check)
			e.wrongValue = err != nil || check.String() != fmt.Sprint(checkValue(e.id, e.seq)) && check.String() != fmt.Sprint(int64(checkValue(e.id, e.seq)))
		}
		s.events = append(s.events, e)
		return nil
	})
}

func (s *tracing) readCounts() error {
	var last, sum [markKinds]uint64
	err := s.lines(filepath.Join(s.dir, "output"), func(l *line) error {
		s.end = l.End
		if s.verb == "latency" {
			if s.latency == nil || l.Final {
				s.latency = &pairs{l.Pairs, l.Unpaired.From, l.Unpaired.To, l.Unpaired.Nested, l.Unpaired.Full, l.Unpaired.Lost + l.Unpaired.Unread, l.Max}
			}
			s.summary = l.Final
			return nil
		}
		kind := slices.Index(markNames[:], l.Marker)
		if kind < 0 {
			return fmt.Errorf("counts of %s", l.Marker)
		}
		sum[kind] += l.Delta
		if l.Count < last[kind] || sum[kind] != l.Count {
			return fmt.Errorf("%s: count %d after %d, and all deltas are %d", l.Marker, l.Count, last[kind], sum[kind])
		}
		last[kind] = l.Count
		s.summary = l.Final
		return nil
	})
	if s.verb == "stat" {
		s.counts = &last
	} else if s.latency == nil {
		s.latency = &pairs{}
	}
	s.losses = s.summary // the intervals of latency are no totals
	return err
}

// readTrace reads a trace on disk, and the summary.
func (s *tracing) readTrace() error {
	s.listed = true
	if s.target == byCommand { // the command has standard output for itself
		var objects []byte
		for l := range bytes.Lines(s.run.program.stderr.Bytes()) {
			if l[0] == '{' {
				objects = append(objects, l...)
			}
		}
		if err := os.WriteFile(s.dir+"/stdout", objects, 0o600); err != nil {
			return err
		}
	}
	err := s.lines(s.dir+"/stdout", func(l *line) error {
		if l.Recording != nil {
			s.summary = true
			s.reported, s.lost, s.end = l.Recording.Events, l.Recording.Lost+l.Recording.Unwritten, l.Recording.End
		}
		return nil
	})
	if err != nil {
		return err
	}
	path := s.dir + "/trace"
	if s.disk != nil {
		path = s.disk.outside + "/trace"
	}
	if _, err := os.Stat(path + "/metadata"); os.IsNotExist(err) && s.err != nil {
		return nil
	}
	r, err := recording.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := s.take(&e.Event); err != nil {
			return err
		}
	}
	losses, err := r.Losses()
	if err != nil {
		return err
	}
	lost := source.Total(losses)
	if s.summary && s.reported != uint64(len(s.events)) {
		return fmt.Errorf("the summary has %d events, the trace %d", s.reported, len(s.events))
	}
	if s.summary && s.end != "disk" && s.lost != lost {
		return fmt.Errorf("the summary has %d lost, the trace %d", s.lost, lost)
	}
	if !s.summary {
		s.lost = lost
	}
	s.losses = true
	return s.babeltrace(path)
}

func (s *tracing) take(e *event.Event) error {
	r := received{
		kind: slices.Index(markNames[:], e.Point.FullName()), time: int64(e.Time), pid: e.PID, tid: e.TID, cpu: e.CPU, goroutine: e.Goroutine,
	}
	if r.kind < 0 || len(e.Values) != 3 {
		return fmt.Errorf("an event of %s with %d values", e.Point.FullName(), len(e.Values))
	}
	r.id, r.seq = uint32(e.Values[0].Bits()), e.Values[1].Bits()
	if s.run.plan.form.isGo() && r.kind == markMark {
		r.wrongValue = string(e.Values[2].Bytes()) != checkText(r.id, r.seq)
	} else {
		r.wrongValue = e.Values[2].Bits() != checkValue(r.id, r.seq)
	}
	s.events = append(s.events, r)
	return nil
}

// babeltrace has another program count the events, of one seed in three.
func (s *tracing) babeltrace(path string) error {
	if s.run.babeltrace == "" || s.run.plan.seed%3 != 0 || len(s.events) == 0 {
		return nil
	}
	out, err := exec.Command(s.run.babeltrace, path, "--component", "counter:sink.utils.counter", "--params", "step=+0").CombinedOutput()
	if err != nil {
		return fmt.Errorf("babeltrace2: %w\n%s", err, out)
	}
	if want := fmt.Sprintf(" %d Event messages\n", len(s.events)); !strings.Contains(string(out), want) {
		return fmt.Errorf("babeltrace2 counts other than %d events:\n%s", len(s.events), out)
	}
	return nil
}
