package tracer

import (
	"errors"
	"fmt"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/internal/shm/rundir"
	"github.com/waymark-trace/waymark/internal/shm/wire"
)

// agentSession is a recording of one process that this process reads.
type agentSession struct {
	ringSource
	conn *agentConn
	dir  *rundir.Dir // of the process's rings, to remove one that it has left
	name string
	size int64 // of its rings, in bytes
}

// startSession asks the agent of a process to record.
func startSession(pid int, r *wire.Session) (*agentSession, error) {
	conn, err := dialAgent(pid)
	if err != nil {
		return nil, err
	}
	a, f, err := conn.AskFile(&wire.Request{Do: wire.Record, Session: r})
	if err != nil {
		conn.close()
		return nil, agentError(err)
	}
	defer f.Close()
	s := &agentSession{conn: conn}
	if a.Session == nil || rundir.CheckSession(a.Session.Name) != nil {
		conn.close()
		return nil, fmt.Errorf("the agent of process %d does not say what it records", pid)
	}
	s.name, s.size = a.Session.Name, a.Session.Size
	if s.Reader, err = ring.Open(f); err != nil {
		conn.close()
		return nil, fmt.Errorf("reading what process %d records: %w", pid, err)
	}
	s.pid, s.file = pid, &File{Path: conn.exe, Go: conn.goes, goid: -1}
	s.comm, _ = procfs.Comm(pid) // without it the process is a number
	if dir, owner, err := rundir.Of(pid); err == nil {
		s.dir, _, _ = dir.Rings(owner.Process)
		dir.Close()
	}
	return s, nil
}

// startSessions starts one for each process that has any of the markers.
func startSessions(t Target, markers []*Marker, r wire.Session) (all []*agentSession, err error) {
	r.Patterns = declaredNames(markers)
	var none error
	for _, pid := range t.pids() {
		s, err := startSession(pid, &r)
		var e *wire.Error
		if errors.As(err, &e) && e.Code == wire.NoPoint {
			none = err
			continue
		}
		if err != nil {
			closeSessions(all)
			return nil, err
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, none
	}
	return all, nil
}

// halt ends the recording. What was recorded can still be read.
func (s *agentSession) halt() error {
	err := s.conn.ask(&wire.Request{Do: wire.Stop, Name: s.name})
	if errors.Is(err, wire.ErrEnded) { // with its process, which cannot remove the file
		if s.dir != nil {
			_ = s.dir.Remove(s.name + rundir.RingSuffix)
		}
		return nil
	}
	return err
}

// close ends the connection, and with it the recording, and forgets what was not read.
func (s *agentSession) close() {
	s.conn.close()
	_ = s.Reader.Close() // there is nothing to do about a mapping that stays
	if s.dir != nil {
		s.dir.Close()
	}
}

func closeSessions(all []*agentSession) {
	for _, s := range all {
		s.close()
	}
}
