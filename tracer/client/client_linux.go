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

// conn is a connection to an agent.
type conn struct{ *agentconn.Conn }

func dial(pid int) (*conn, error) {
	c, err := agentconn.Dial(pid)
	return &conn{c}, err
}

func (c *conn) points() (all []Point, err error) {
	points, err := c.Conn.Points()
	for _, p := range points {
		all = append(all, Point{
			Kind: p.Kind, Name: p.Name, Format: p.Format, Fields: agentconn.Fields(p), Armed: p.Armed, Kernel: p.Kernel,
			Probes: p.Probes, Hits: p.Hits, Problem: p.Problem,
		})
	}
	return all, err
}

func (c *conn) arm(names []string) error {
	return c.Do(&wire.Request{Do: wire.Arm, Names: names})
}

func (c *conn) toggle(names []string, on bool) error {
	do := wire.Disable
	if on {
		do = wire.Enable
	}
	return c.Do(&wire.Request{Do: do, Names: names})
}

func (c *conn) sessions() (all []Session, err error) {
	err = c.List(wire.Sessions, func(a *wire.Answer) {
		if a.Session != nil {
			all = append(all, c.sessionOf(a.Session))
		}
	})
	return all, err
}

func (c *conn) sessionOf(s *wire.Session) Session {
	return Session{
		PID: c.PID, Executable: c.Executable, Name: s.Name, Named: s.Named, Flight: s.Mode == wire.Overwrite, Alive: true,
		Size: s.Size, File: s.File, Began: time.Unix(0, s.Began), Markers: s.Markers,
		Recorded: s.Recorded, Lost: s.Lost, Filtered: s.Filtered,
	}
}

func (c *conn) stopSession(name string) error {
	return c.Do(&wire.Request{Do: wire.Stop, Name: name})
}

func (c *conn) wait() { c.Ended() }

func (c *conn) snapshot(name string) (kept, error) { return c.Conn.Snapshot(name) }

func (c *conn) startSession(o *SessionOptions) (*Session, error) {
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
	a, f, err := c.AskFile(&wire.Request{Do: wire.Record, Session: &wire.Session{
		Name: o.Name, Patterns: o.Patterns, Mode: mode, Size: o.Size, Where: o.Where, MaxString: cmp.Or(o.MaxString, model.DefaultMaxString),
	}})
	if err != nil {
		return nil, agentconn.Refusal(err)
	}
	f.Close()
	if a.Session == nil {
		return nil, fmt.Errorf("the agent of process %d does not say what it records", c.PID)
	}
	s := c.sessionOf(a.Session)
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

// allSessions asks every agent, all at once, and collects the rings that others have left.
func allSessions() (all []Session, err error) {
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
			PID: p.PID, Name: r.Session, Named: !strings.HasPrefix(r.Session, "stream-"), Size: r.Size, Began: r.Modified,
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
	defer c.Close()
	return (&conn{c}).sessions()
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

func removeSession(s *Session) error {
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
