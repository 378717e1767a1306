package wire

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// An agent of another version refuses the greeting, and the client adds a hint.
func TestOtherVersion(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*Conn
	for i := range ends {
		if ends[i], err = newConn(fds[i], i == 0); err != nil {
			t.Fatal(err)
		}
		defer ends[i].Close()
	}
	answered := make(chan error)
	go func() {
		_, err := ends[1].Request(0)
		answered <- errors.Join(err, ends[1].Answer(&Answer{Error: &Error{Code: BadVersion, Text: "this agent speaks version 1"}}))
	}()
	_, _, err = NewClient(ends[0])
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	var refused *Error
	if !errors.As(err, &refused) || refused.Text != "this agent speaks version 1" || refused.Hint != Rebuild {
		t.Errorf("error %v, %+v", err, refused)
	}
}
