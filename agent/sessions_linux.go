package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/internal/filter"
	"github.com/waymark-trace/waymark/internal/shm/headroom"
	"github.com/waymark-trace/waymark/internal/shm/recorder"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/internal/shm/rundir"
	"github.com/waymark-trace/waymark/internal/shm/wire"
	"golang.org/x/sys/unix"
)

// sessions are the recordings of the agent. Starting and stopping one waits for the others.
type sessions struct {
	limit int64 // bytes of all rings

	mu     sync.Mutex
	all    []*session
	dir    *rundir.Dir // of this process's rings, open while there are sessions
	serial int
}

// session is one recording.
type session struct {
	recording *recorder.Session
	about     wire.Session // the request, and the ring's file
	owner     *client      // the client whose end ends the session; nil for a named one
}

const (
	maxSessions   = 8
	maxText       = 4096
	defaultStream = 16 << 20
	defaultFlight = 64 << 20
	defaultCount  = 1 << 20
)

var modes = map[string]struct {
	mode ring.Mode
	size int64
}{
	wire.Discard:   {ring.Discard, defaultStream},
	wire.Overwrite: {ring.Overwrite, defaultFlight},
	wire.Count:     {ring.Count, defaultCount},
}

// record starts a session for a client, and answers with its ring file.
func (c *client) record(r *wire.Session) error {
	if r == nil {
		return c.refuse(refuse(wire.BadRequest, "record says nothing of the session"))
	}
	s, f, err := c.agent.sessions.start(c.agent.self, c, *r)
	if err != nil {
		return c.answer(err)
	}
	defer f.Close()
	said := s.say()
	return c.conn.AnswerFile(&wire.Answer{Session: &said}, f)
}

// start starts a session and opens its rings for a client.
func (ss *sessions) start(self rundir.Process, c *client, r wire.Session) (*session, *os.File, error) {
	mode, ok := modes[r.Mode]
	if !ok {
		return nil, nil, refuse(wire.BadRequest, "there is no mode %.80q", r.Mode)
	}
	usual := r.Size == 0
	if usual {
		r.Size = mode.size
	}
	if r.Size < 0 || r.MaxString < 0 || r.MaxString > maxText {
		return nil, nil, refuse(wire.BadRequest, "rings of %d bytes with texts of %d: texts have at most %d", r.Size, r.MaxString, maxText)
	}
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if len(ss.all) >= maxSessions {
		return nil, nil, refuse(wire.Limited, "%d recordings, as many as an agent makes at a time", maxSessions).
			With("waymark sessions shows them, waymark sessions stop ends one")
	}
	if used := ss.used(); r.Size > ss.limit-used {
		return nil, nil, refuse(wire.Limited, "rings of %d bytes: the agent's limit is %d, of which %d are used", r.Size, ss.limit, used).
			With("ask for fewer bytes, or let the program set a larger agent.Options.MaxBytes")
	}
	r.Named = r.Name != ""
	if !r.Named {
		ss.serial++
		r.Name = fmt.Sprintf("stream-%d", ss.serial)
	} else if err := rundir.CheckSession(r.Name); err != nil {
		return nil, nil, refuse(wire.BadRequest, "%v", err)
	}
	if ss.named(r.Name) >= 0 {
		return nil, nil, refuse(wire.Limited, "there is a recording %q already", r.Name).
			With("waymark snapshot writes what it has kept, waymark sessions stop ends it; --session NAME is another beside it")
	}
	if err := ss.enter(self); err != nil {
		return nil, nil, err
	}
	if usual {
		r.Size = fitting(r.Size, ss.room(r.Named))
	}
	s, f, err := ss.begin(c, r, mode.mode)
	if err != nil && len(ss.all) == 0 {
		ss.close(self)
	}
	return s, f, err
}

// begin is start where nothing is against it. ss.mu is held.
func (ss *sessions) begin(c *client, r wire.Session, mode ring.Mode) (*session, *os.File, error) {
	file := r.Name + rundir.RingSuffix
	if err := ss.fits(r.Size, r.Named); err != nil {
		return nil, nil, err
	}
	if err := ss.dir.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) { // of an earlier agent of this process
		return nil, nil, err
	}
	o := recorder.Options{
		Name: r.Name, Patterns: r.Patterns, Mode: mode, Size: uint64(r.Size), Where: r.Where, MaxString: r.MaxString, Sealed: !r.Named,
	}
	if r.Named {
		o.Dir, r.File = ss.dir.Inside(""), ss.dir.Path()+"/"+file
	}
	began, err := recorder.Start(o)
	if err != nil {
		return nil, nil, explain(err)
	}
	r.Began = time.Now().UnixNano()
	s := &session{recording: began, about: r}
	if !r.Named {
		s.owner = c
	}
	f, err := ss.open(s, unix.O_RDWR)
	if err != nil {
		began.Stop()
		_ = ss.remove(s)
		return nil, nil, err
	}
	ss.all = append(ss.all, s)
	return s, f, nil
}

// open opens the rings of a session for a client. Rings in a file, which outlive the program, are opened for
// reading: a client that could write could also cut the file short, and the program would die of SIGBUS.
func (ss *sessions) open(s *session, flags int) (*os.File, error) {
	if s.about.Named {
		return ss.dir.Open(s.about.Name+rundir.RingSuffix, unix.O_RDONLY)
	}
	return s.recording.File().OpenSealed(flags)
}

// remove removes the file of a session that has one.
func (ss *sessions) remove(s *session) error {
	if !s.about.Named {
		return nil
	}
	return ss.dir.Remove(s.about.Name + rundir.RingSuffix)
}

// fits refuses rings that would take more than half of the memory that is left, where they are memory: the
// kernel would not refuse them, but kill the program.
func (ss *sessions) fits(size int64, named bool) error {
	if named && !ss.dir.InMemory() {
		return nil
	}
	left, of, err := headroom.Bytes()
	if err != nil || size <= left/2 {
		return nil // an unknown limit does not prevent recording
	}
	whose := "the machine"
	if of != "" {
		whose = "the cgroup " + of
	}
	return refuse(wire.Limited, "rings of %d bytes: of the memory of %s %d bytes are left, half of which may become rings", size, whose, left).
		With(fmt.Sprintf("smaller rings: --flight %dK, or --buffer", max(left/2, 1<<10)>>10))
}

// room returns the number of bytes for rings whose size the client leaves open, -1 if it is
// unknown.
func (ss *sessions) room(named bool) int64 {
	left, _, err := headroom.Bytes()
	if err != nil || named && !ss.dir.InMemory() {
		return -1
	}
	return left / 2
}

// leastUsual is the least that a recording gets which asks for nothing in particular.
const leastUsual = 256 << 10

// fitting halves a size until there is room for it, as long as that makes sense.
func fitting(size, room int64) int64 {
	for room >= 0 && size > room && size > leastUsual {
		size /= 2
	}
	return size
}

// explain turns an error of the recorder into a refusal.
func explain(err error) error {
	var where *filter.Error
	switch {
	case errors.As(err, &where):
		return &wire.Error{Code: wire.BadWhere, Text: where.Error(), Hint: where.Hint, Column: where.Column}
	case errors.Is(err, recorder.ErrNoMarker):
		return refuse(wire.NoPoint, "%v", err)
	case errors.Is(err, ring.ErrSize):
		return refuse(wire.BadRequest, "%v", err).With("larger rings: 1M, or nothing for the usual size")
	case errors.Is(err, unix.ENOSPC):
		return refuse(wire.Failed, "%v", err).With("smaller rings, or fewer recordings: waymark sessions shows them")
	}
	return err
}

// enter opens the directory for rings, and makes room there. ss.mu is held. The directory's lock
// also shows other programs that this one records, into sealed memory too.
func (ss *sessions) enter(self rundir.Process) error {
	if ss.dir != nil {
		return nil
	}
	all, err := rundir.Create()
	if err != nil {
		return err
	}
	defer all.Close()
	_, _ = all.Clean(rundir.MaxDead) // a file that cannot be removed does not prevent recording
	ss.dir, err = all.Own(self)
	return err
}

// close removes the directory for rings. ss.mu is held.
func (ss *sessions) close(self rundir.Process) {
	if all, err := rundir.Create(); err == nil {
		_ = all.RemoveProcess(self) // not empty: an earlier agent has left something
		all.Close()
	}
	ss.dir.Close()
	ss.dir = nil
}

func (ss *sessions) used() (bytes int64) {
	for _, s := range ss.all {
		bytes += s.about.Size
	}
	return bytes
}

func (ss *sessions) named(name string) int {
	return slices.IndexFunc(ss.all, func(s *session) bool { return s.about.Name == name })
}

// stop ends a session by name and removes its file.
func (ss *sessions) stop(self rundir.Process, name string) error {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.named(name) < 0 {
		return refuse(wire.NoSession, "there is no recording %.80q", name)
	}
	return ss.end(self, func(s *session) bool { return s.about.Name == name })
}

// stopOf ends the unnamed recordings of a client.
func (ss *sessions) stopOf(self rundir.Process, c *client) error {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return ss.end(self, func(s *session) bool { return s.owner == c })
}

// stopAll ends every session.
func (ss *sessions) stopAll(self rundir.Process) error {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return ss.end(self, func(*session) bool { return true })
}

// end ends sessions and removes their files. ss.mu is held.
func (ss *sessions) end(self rundir.Process, which func(*session) bool) error {
	var errs []error
	ss.all = slices.DeleteFunc(ss.all, func(s *session) bool {
		if !which(s) {
			return false
		}
		s.recording.Stop()
		errs = append(errs, ss.remove(s))
		return true
	})
	if ss.dir != nil && len(ss.all) == 0 {
		ss.close(self)
	}
	return errors.Join(errs...)
}

// file opens the ring file of a session, to read.
func (ss *sessions) file(name string) (*session, *os.File, error) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	i := ss.named(name)
	if i < 0 {
		return nil, nil, refuse(wire.NoSession, "there is no recording %.80q", name)
	}
	f, err := ss.open(ss.all[i], unix.O_RDONLY)
	return ss.all[i], f, err
}

// ring answers with the ring file of a session.
func (c *client) ring(name string) error {
	s, f, err := c.agent.sessions.file(name)
	if err != nil {
		return c.answer(err)
	}
	defer f.Close()
	said := s.say()
	return c.conn.AnswerFile(&wire.Answer{Session: &said}, f)
}

func (ss *sessions) list() (all []wire.Session) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	for _, s := range ss.all {
		all = append(all, s.say())
	}
	return all
}

// say describes the session as it is now.
func (s *session) say() wire.Session {
	said, st := s.about, s.recording.Stats()
	said.Patterns, said.Where = nil, "" // the client knows
	said.Markers, said.Recorded, said.Filtered = st.Markers, st.Events, st.Filtered
	said.Lost = st.Full + st.NoRing + st.Undescribed
	return said
}
