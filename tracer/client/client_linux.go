package client

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/internal/shm/rundir"
	"github.com/waymark-trace/waymark/internal/shm/wire"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/agentconn"
	"github.com/waymark-trace/waymark/tracer/internal/model"
	"golang.org/x/sys/unix"
)

type conn = agentconn.Conn

// Dial connects to the agent of a process, which is of this process's user unless that is root. The
// error wraps ErrNoAgent when there is none.
func Dial(pid int) (*Agent, error) {
	c, err := agentconn.Dial(pid)
	if err != nil {
		return nil, err
	}
	return &Agent{c}, nil
}

// Points returns every marker, tracepoint and key of the program, by kind and name.
func (a *Agent) Points() (all []Point, err error) {
	points, err := a.conn.Points()
	for _, p := range points {
		all = append(all, Point{
			Kind: p.Kind, Name: p.Name, Format: p.Format, Fields: agentconn.Fields(p), Armed: p.Armed, Kernel: p.Kernel,
			Probes: p.Probes, Hits: p.Hits, Problem: p.Problem,
		})
	}
	return all, err
}

// Arm arms markers by name, as declared, all of them or none: their probes in the program run.
func (a *Agent) Arm(names []string) error {
	return a.conn.Do(&wire.Request{Do: wire.Arm, Names: names})
}

// Switch enables keys by name, or disables them, all of them or none. Keys count: one that others
// have enabled twice stays on when it is disabled once.
func (a *Agent) Switch(names []string, on bool) error {
	do := wire.Disable
	if on {
		do = wire.Enable
	}
	return a.conn.Do(&wire.Request{Do: do, Names: names})
}

// Sessions returns the recordings of the program. No two have the same name.
func (a *Agent) Sessions() (all []Session, err error) {
	names := map[string]int{}
	err = a.conn.List(wire.Sessions, func(answer *wire.Answer) {
		if answer.Session != nil {
			all = append(all, a.sessionOf(answer.Session))
			names[answer.Session.Name]++
		}
	})
	for name, n := range names {
		if n > 1 && err == nil {
			return nil, fmt.Errorf("the agent of process %d lists %d recordings with the name %q", a.conn.PID, n, name)
		}
	}
	return all, err
}

func (a *Agent) sessionOf(s *wire.Session) Session {
	return Session{
		PID: a.conn.PID, Executable: a.conn.Executable, Name: s.Name, Named: s.Named, Flight: s.Mode == wire.Overwrite, Alive: true,
		Size: s.Size, File: s.File, Began: time.Unix(0, s.Began), Markers: s.Markers,
		Recorded: s.Recorded, Lost: s.Lost, Filtered: s.Filtered,
	}
}

// StopSession ends a recording by name, and forgets what it has kept.
func (a *Agent) StopSession(name string) error {
	return a.conn.Do(&wire.Request{Do: wire.Stop, Name: name})
}

// Wait returns when the agent has gone: its process ended, or it was stopped. No other method may be
// called meanwhile but Close, which makes it return.
func (a *Agent) Wait() { a.conn.Ended() }

// Snapshot reads what a recording has kept until now, which goes on. Read of the Ring returns io.EOF
// after it.
func (a *Agent) Snapshot(name string) (*Ring, error) { return ringOf(a.conn.Snapshot(name)) }

// StartSession starts a recording that outlives this connection, until it is stopped by its name or
// the program ends, and then what is in its ring file: see Recover. Of the markers, which the process's
// agent told of, those that have the patterns' names and appear later are recorded, too.
func (a *Agent) StartSession(o *SessionOptions) (*Session, error) {
	if err := rundir.CheckSession(o.Name); err != nil {
		return nil, err
	}
	mode := wire.Discard
	if o.Flight {
		mode = wire.Overwrite
	}
	if o.Size == 0 {
		o.Size = 64 << 20
	}
	answer, f, err := a.conn.AskFile(&wire.Request{Do: wire.Record, Session: &wire.Session{
		Name: o.Name, Patterns: o.Patterns, Mode: mode, Size: o.Size, Where: o.Where, MaxString: cmp.Or(o.MaxString, model.DefaultMaxString),
	}})
	if err != nil {
		return nil, agentconn.Refusal(err)
	}
	f.Close()
	if answer.Session == nil {
		return nil, fmt.Errorf("the agent of process %d does not say what it records", a.conn.PID)
	}
	s := a.sessionOf(answer.Session)
	return &s, nil
}

// leftRing is where a dead program has left a ring: names are looked up anew, without following links, each time.
type leftRing struct {
	dir     string
	process rundir.Process
}

// Limits of asking all agents: how long they may take together, so that agents that hang, which any user can
// start, do not add up, and how many of a user's are asked at a time.
const (
	askTime = 5 * time.Second
	askers  = 16
)

// Sessions returns the recordings of all programs whose agents this process may ask, and the ring files that
// dead ones left, by process and name. The error is what kept it from looking; some may be returned all the same.
func Sessions() (all []Session, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var errs []error
	end := time.Now().Add(askTime)
	for _, d := range rundir.All() {
		defer d.Close()
		processes, err := d.Processes()
		errs = append(errs, err)
		slots := make(chan struct{}, askers)
		for _, p := range processes {
			wg.Go(func() {
				slots <- struct{}{}
				some, err := sessionsOf(d, p, end)
				<-slots
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					all = append(all, some...)
				} else if !errors.Is(err, model.ErrNoAgent) && !errors.Is(err, model.ErrNoProcess) {
					errs = append(errs, err)
				}
			})
		}
	}
	wg.Wait()
	slices.SortFunc(all, func(a, b Session) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), strings.Compare(a.Name, b.Name), strings.Compare(a.File, b.File))
	})
	all = slices.CompactFunc(all, func(a, b Session) bool { // of a process in two directories
		return a.Alive && b.Alive && a.PID == b.PID && a.Name == b.Name
	})
	return all, errors.Join(errs...)
}

// sessionsOf returns the recordings of a process that has a directory in d. It ignores a directory that
// d's owner has named after another user's process, or after one that there never was, as if it recorded.
func sessionsOf(d *rundir.Dir, p rundir.Process, end time.Time) ([]Session, error) {
	rings, dead, err := d.Rings(p)
	if err != nil {
		return nil, nil // a socket alone: nothing is recorded
	}
	defer func() { rings.Close() }()
	owner, err := rundir.OwnerOf(p.PID)
	if alive := err == nil && owner.Process == p; alive && owner.UID != d.UID() || err == nil && !alive && !dead {
		return nil, nil
	}
	for until := time.Now().Add(dyingTime); !dead; time.Sleep(dyingTime / 50) {
		if time.Now().After(end) {
			return nil, fmt.Errorf("process %d: not asked within %v: other agents of its user took longer", p.PID, askTime)
		}
		all, asked := askSessions(p.PID, end)
		if !isEnd(asked) || time.Now().After(until) {
			return all, asked
		}
		// It is about to end: its sockets are closed, or reset, before the lock on its rings is free.
		again, free, err := d.Rings(p)
		if err != nil {
			return nil, err
		}
		rings.Close()
		rings, dead = again, free
	}
	list, err := rings.List()
	var all []Session
	for _, r := range list {
		s := Session{
			PID: p.PID, Name: r.Session, Named: true, Size: r.Size, Began: r.Modified,
			File: rings.Path() + "/" + r.Session + rundir.RingSuffix, left: &leftRing{d.Path(), p},
		}
		if f, err := rings.Open(r.Session+rundir.RingSuffix, unix.O_RDONLY); err == nil {
			if reader, err := ring.Open(f); err == nil {
				s.Executable, s.Flight = reader.Info().Executable, reader.Info().Mode == ring.Overwrite
				reader.Close()
			}
			f.Close()
		}
		all = append(all, s)
	}
	return all, err
}

// dyingTime is how long a process may take from closing its agent's socket to its end.
const dyingTime = time.Second

// isEnd reports whether an error can be that of asking a process that ends.
func isEnd(err error) bool {
	return errors.Is(err, wire.ErrEnded) || errors.Is(err, model.ErrNoAgent) || errors.Is(err, model.ErrNoProcess)
}

// askSessions asks the agent of a process.
func askSessions(pid int, end time.Time) ([]Session, error) {
	c, err := agentconn.DialUntil(pid, end)
	if err != nil {
		return nil, err
	}
	a := &Agent{c}
	defer a.Close()
	return a.Sessions()
}

// open opens the directory that a ring was left in.
func (l *leftRing) open() (*rundir.Dir, error) {
	for _, d := range rundir.All() {
		if d.Path() == l.dir {
			rings, dead, err := d.Rings(l.process)
			d.Close()
			if err == nil && !dead {
				rings.Close()
				err = fmt.Errorf("process %d is alive", l.process.PID)
			}
			return rings, err
		}
		d.Close()
	}
	return nil, fmt.Errorf("directory %s: %w", l.dir, os.ErrNotExist)
}

var errAlive = errors.New("the program still records: take a snapshot")

func openRing(s *Session) (kept, error) {
	if s.left == nil {
		return nil, errAlive
	}
	dir, err := s.left.open()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	f, err := dir.Open(s.Name+rundir.RingSuffix, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	source, err := agentconn.ReadRing(f)
	if err != nil {
		return nil, err
	}
	return agentconn.NewKept(source), nil
}

func openRingFile(path string) (kept, *Session, error) {
	f, _, err := model.OpenFile(path)
	if errors.Is(err, sdt.ErrNotELF) { // nor is a ring file
		err = fmt.Errorf("%s: not a regular file", path)
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	source, err := agentconn.ReadRing(f)
	if err != nil {
		return nil, nil, err
	}
	info := source.Info()
	return agentconn.NewKept(source), &Session{
		PID: info.PID, Executable: info.Executable, Name: info.Session, Flight: info.Mode == ring.Overwrite, File: path,
	}, nil
}

// Remove removes the ring file that a dead program has left.
func (s *Session) Remove() error {
	if s.left == nil {
		return errAlive
	}
	dir, err := s.left.open()
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Remove(s.Name + rundir.RingSuffix)
}
