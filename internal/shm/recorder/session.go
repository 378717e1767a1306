package recorder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waymark-trace/waymark/internal/clock"
	"github.com/waymark-trace/waymark/internal/filter"
	"github.com/waymark-trace/waymark/internal/inproc/point"
	"github.com/waymark-trace/waymark/internal/shm/ring"
)

// Session is one recording.
type Session struct {
	o     Options
	where *filter.Expr // nil for none
	file  *ring.File
	stamp clock.Stamp
	on    uint32 // 1 while all points record: those that are connected first wait for the others; atomic

	mu         sync.Mutex // of what follows; no other lock is taken under it but the file's
	recordings map[*point.State]*recording
	problems   []error

	stop    sync.Once
	stopped chan struct{}
	ticks   sync.WaitGroup

	counting sync.Mutex // while the file is mapped, or final is set
	final    *Stats
}

// sessions are those that record.
var sessions struct {
	sync.Mutex
	all []*Session
}

// Start begins to record. The markers that its condition does not fit are an error if their arguments are known by
// now; those of which the arguments are learned later are reported by Stats, and so is a wrong declaration beside others.
func Start(o Options) (*Session, error) {
	s, err := start(o)
	if err != nil {
		return nil, fmt.Errorf("starting to record: %w", err)
	}
	return s, nil
}

func start(o Options) (*Session, error) {
	where, err := o.check()
	if err != nil {
		return nil, err
	}
	if o.MaxString == 0 {
		o.MaxString = DefaultMaxString
	}
	if point.Markers == nil && point.Tracepoints == nil {
		return nil, errors.New("the program has no markers")
	}
	path := ""
	if o.Dir != "" {
		path = filepath.Join(o.Dir, o.Name+".ring")
	}
	kind := clock.Best()
	info := describeProcess(o.Name)
	info.Mode, info.Clock, info.Goroutines = o.Mode, kind, point.NumberOffset() != 0
	file, err := ring.Create(path, ring.Options{Info: info, Size: o.Size, SubBuffers: o.SubBuffers, Sealed: o.Sealed})
	if err != nil {
		return nil, err
	}
	s := &Session{
		o: o, where: where, file: file, stamp: clock.StampOf(kind, point.G),
		recordings: map[*point.State]*recording{}, stopped: make(chan struct{}),
	}
	points() // what is there is found now; Found is told what comes later
	sessions.Lock()
	if point.Record == nil { // once: those who record already read it
		point.Record = record
	}
	sessions.all = append(sessions.all, s)
	found := foundPoint
	point.Found.Store(&found)
	sessions.Unlock()
	for _, m := range points() {
		if err = s.connect(m); err != nil {
			break
		}
	}
	if err == nil {
		err = s.nothing()
	}
	if err != nil {
		s.Stop()
		if path != "" {
			os.Remove(path)
		}
		return nil, err
	}
	atomic.StoreUint32(&s.on, 1)
	s.ticks.Add(1)
	go s.tick()
	return s, nil
}

// nothing reports why nothing would be recorded: no point matches, or what is wrong with each that does.
func (s *Session) nothing() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.recordings {
		if pl := r.plan.Load(); pl == nil || !pl.refused {
			return nil
		}
	}
	if len(s.problems) > 0 {
		return s.problems[0]
	}
	return fmt.Errorf("%w: %q", ErrNoMarker, s.o.Patterns)
}

// points returns what of the program can be recorded.
func points() (all []point.Recordable) {
	for _, of := range []func() []point.Recordable{point.Markers, point.Tracepoints} {
		if of != nil {
			all = append(all, of()...)
		}
	}
	return all
}

// foundPoint connects a marker or tracepoint that was found while sessions record.
func foundPoint(m point.Recordable) {
	sessions.Lock()
	all := append([]*Session{}, sessions.all...)
	sessions.Unlock()
	for _, s := range all {
		if err := s.connect(m); err != nil {
			s.problem(err)
		}
	}
}

// tick notes the clocks, and looks for points that are there by now, from time to time.
func (s *Session) tick() {
	defer s.ticks.Done()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		select {
		case <-s.stopped:
			return
		case <-time.After(pause):
			s.file.Sync()
			points()
		}
	}
}

// maxProblems bounds what a session remembers.
const maxProblems = 16

func (s *Session) problem(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.problems) < maxProblems {
		s.problems = append(s.problems, err)
	}
}

// Stop ends the recording. When it returns no event is being written and none will be; what was written
// stays in the file, which says so. It may be called more than once.
func (s *Session) Stop() {
	s.stop.Do(func() {
		atomic.StoreUint32(&s.on, 0)
		close(s.stopped)
		s.ticks.Wait()
		sessions.Lock()
		for i, other := range sessions.all {
			if other == s {
				sessions.all = append(sessions.all[:i:i], sessions.all[i+1:]...)
				break
			}
		}
		if len(sessions.all) == 0 {
			point.Found.Store(nil)
		}
		sessions.Unlock()
		markers := s.disconnect()
		quiesce()
		s.file.End()
		s.counting.Lock()
		defer s.counting.Unlock()
		final := s.stats()
		final.Markers = markers
		s.final = &final
		_ = s.file.Close() // there is nothing to do about a mapping that stays
	})
}

// Path returns the name of the session's file, "" where the rings are in memory.
func (s *Session) Path() string { return s.file.Path() }

// File returns the session's rings, from which rings in memory are read.
func (s *Session) File() *ring.File { return s.file }
