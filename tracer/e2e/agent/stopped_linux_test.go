package agent_test

import (
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/shm/wire"
)

// The time for which a target is stopped in the middle of a request is not charged to its clients: what one of
// them armed is undone as soon as it leaves, and the next one is answered.
func TestStoppedInRequest(t *testing.T) {
	runtimeDir(t)
	for range 4 { // most stops hit a request
		p := run(t, nil)
		before := p.ask("look")
		c := connect(t, before.Socket)
		io.WriteString(c, hello)
		names := strings.TrimSuffix(strings.Repeat(`"target:worked",`, 1000), ",")
		go func() {
			for {
				_, err := io.WriteString(c, `{"do":"arm","names":[`+names+"]}\n"+`{"do":"disarm","names":[`+names+"]}\n")
				if err != nil {
					return
				}
			}
		}()
		go io.Copy(io.Discard, c)
		time.Sleep(50 * time.Millisecond)
		must(t, syscall.Kill(p.PID(), syscall.SIGSTOP))
		time.Sleep(time.Second)
		must(t, syscall.Kill(p.PID(), syscall.SIGCONT))
		time.Sleep(20 * time.Millisecond)
		c.Close()
		left := time.Now()
		settled(t, p, before)
		if took := time.Since(left); took > 2*time.Second {
			t.Errorf("undone, and another client answered, %v after the client left", took)
		}
	}
}

// A client that has spent its time and leaves is noticed at once, while the agent makes it wait.
func TestLeftWhileWaiting(t *testing.T) {
	runtimeDir(t)
	p := run(t, nil)
	before := p.ask("look")
	c := wireClient(t, p)
	var spent time.Duration
	for from := cpuTime(t, p.PID()); spent < 600*time.Millisecond; spent = cpuTime(t, p.PID()) - from {
		a, f, err := c.AskFile(&wire.Request{Do: wire.Record, Session: &wire.Session{Mode: wire.Discard, Size: 128 << 20}})
		must(t, err)
		f.Close()
		_, err = c.Ask(&wire.Request{Do: wire.Stop, Name: a.Session.Name})
		must(t, err)
	}
	_, f, err := c.AskFile(&wire.Request{Do: wire.Record, Session: &wire.Session{Mode: wire.Discard, Size: 128 << 20}})
	must(t, err)
	f.Close()
	c.Close()
	left := time.Now()
	settled(t, p, before)
	if took := time.Since(left); took > time.Second {
		t.Errorf("undone, and another client answered, %v after the client left", took)
	}
}
