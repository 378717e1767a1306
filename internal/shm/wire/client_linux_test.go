package wire

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pair returns the client's and the agent's end of a connection.
func pair(t *testing.T) (ends [2]*Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range ends {
		if ends[i], err = newConn(fds[i], i == 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ends[i].Close() })
	}
	return ends
}

// An agent of another version refuses the greeting, and the client adds a hint.
func TestOtherVersion(t *testing.T) {
	ends := pair(t)
	answered := make(chan error)
	go func() {
		_, err := ends[1].Request(0)
		answered <- errors.Join(err, ends[1].Answer(&Answer{Error: &Error{Code: BadVersion, Text: "this agent speaks version 1"}}))
	}()
	_, _, err := NewClient(ends[0])
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	var refused *Error
	if !errors.As(err, &refused) || refused.Text != "this agent speaks version 1" || refused.Hint != Rebuild {
		t.Errorf("error %v, %+v", err, refused)
	}
}

// An agent that answers without end, with much or slowly, takes a bounded amount of memory and time.
func TestAnswerLimits(t *testing.T) {
	long := strings.Repeat("x", 60_000)
	fields := strings.TrimSuffix(strings.Repeat("{},", 20_000), ",")
	for _, tt := range []struct {
		answer, want string
		pause        time.Duration
	}{
		{`{"more":true,"point":{"name":"` + long + `"}}`, "answers to list: more than 64 MiB in memory", 0},
		{`{"more":true,"point":{"fields":[` + fields + `]}}`, "answers to list: more than 64 MiB in memory", 0},
		{`{"more":true,"session":{"where":"` + long + `"}}`, "answers to list: more than 64 MiB in memory", 0},
		{`{"more":true}`, "answers to list: more than 300ms", 20 * time.Millisecond},
	} {
		ends := pair(t)
		go func() {
			for line := []byte(tt.answer + "\n"); ; time.Sleep(tt.pause) {
				if _, err := ends[1].f.Write(line); err != nil {
					return
				}
			}
		}()
		c := &Client{conn: ends[0], time: answerTime}
		if tt.pause > 0 {
			c.time = 300 * time.Millisecond
		}
		var all []*Answer
		err := c.Each(&Request{Do: List}, func(a *Answer) error {
			all = append(all, a)
			return nil
		})
		var limit *LimitError
		if !errors.As(err, &limit) || limit.Error() != tt.want {
			t.Errorf("%.40s…: error %v, want %s", tt.answer, err, tt.want)
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		if held := m.HeapAlloc >> 20; held > 100 {
			t.Errorf("%.40s…: %d MiB in %d answers", tt.answer, held, len(all))
		}
		runtime.KeepAlive(all)
		ends[1].Close()
	}
}
