package history

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A flight recorder is not a process beside the program: the agent keeps the newest events in shared memory. It ends by a
// snapshot, or is recovered when the program was killed.

// fly runs a flight recorder from its start to its snapshot or recovery.
func (s *tracing) fly() {
	r := s.run
	name := strings.ReplaceAll(s.name, " ", "")
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		r.violation("%v", err)
		return
	}
	args := []string{"record", "--flight", fmt.Sprint(max(s.buffer, 64<<10)), "--session", name, "-p", fmt.Sprint(s.pid)}
	for kind, asked := range s.wants {
		if asked {
			args = append(args, markNames[kind])
		}
	}
	closed := s.gated
	if closed && !r.program.close() {
		r.program.open()
		return
	}
	s.imageAt = r.program.image()
	s.spawned = now()
	out, err := s.waymark(args...)
	s.attached = now()
	s.imageAfter = r.program.image()
	if closed {
		r.program.open()
	}
	if err != nil {
		if !r.gone.Load() && !r.executed.Load() {
			r.violation("%s: starting it: %v\n%s", s.describe(), err, out)
		}
		return
	}
	select {
	case <-r.program.done:
	case <-time.After(s.life):
	}
	if closed = s.gated; closed {
		r.program.close()
	}
	s.asked = now()
	if !r.gone.Load() && alive(s.pid) {
		out, err = s.waymark("snapshot", "-p", fmt.Sprint(s.pid), "-o", s.dir+"/trace", name)
		s.ended = now()
		if err == nil && r.program.image() == s.imageAt {
			out, err = s.waymark("sessions", "stop", "-p", fmt.Sprint(s.pid), name)
		}
	} else {
		out, err = s.recover(name)
	}
	if closed {
		r.program.open()
	}
	switch {
	case err == nil:
	case r.executed.Load() && (s.imageAt == 0 || s.imageAt != s.imageAfter || s.imageAt != r.program.image()): // rings of the program that was replaced
		return
	case r.gone.Load(): // it was killed meanwhile
		os.RemoveAll(s.dir + "/trace")
		if out, err = s.recover(name); err != nil {
			r.violation("%s: recovering it: %v\n%s", s.describe(), err, out)
			return
		}
	default:
		r.violation("%s: %v\n%s", s.describe(), err, out)
		return
	}
	s.flown = true
}

// recover writes what the program has left when it was killed.
func (s *tracing) recover(name string) (string, error) {
	<-s.run.program.done // a zombie has its number
	s.asked = now()
	out, err := s.waymark("recover", "--remove", "-p", fmt.Sprint(s.pid), "-o", s.dir+"/trace", name)
	s.ended = now()
	return out, err
}

func (s *tracing) waymark(args ...string) (string, error) {
	cmd := exec.Command(s.run.waymark, args...)
	cmd.Env = append(os.Environ(), s.run.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
