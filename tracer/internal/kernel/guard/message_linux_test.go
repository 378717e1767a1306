package guard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func pair(t testing.TB) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		a, err = conn(fds[0])
	}
	if err == nil {
		b, err = conn(fds[1])
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

func header(descriptors, size uint32) []byte {
	b := binary.NativeEndian.AppendUint32(nil, descriptors)
	return binary.NativeEndian.AppendUint32(b, size)
}

func TestReceiveRefuses(t *testing.T) {
	for what, raw := range map[string][]byte{
		"half a header":         header(0, 1)[:5],
		"half a payload":        append(header(0, 4), "xy"...),
		"too long":              header(0, maxSize+1),
		"too many descriptors":  header(maxDescriptors+1, 0),
		"descriptors not there": append(header(1, 4), "payload"...),
		"no descriptors at all": header(1, 4),
	} {
		a, b := pair(t)
		if _, err := a.Write(raw); err != nil {
			t.Fatal(err)
		}
		a.CloseWrite()
		if payload, fds, err := receive(b); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %q, %v, %v", what, payload, fds, err)
		}
		a.Close()
		b.Close()
	}
}

// Descriptors beyond those announced are closed, not kept.
func TestReceiveClosesStrays(t *testing.T) {
	a, b := pair(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rights := unix.UnixRights(int(w.Fd()), int(w.Fd()))
	if _, err = a.Write(header(1, 0)); err == nil {
		_, _, err = a.WriteMsgUnix([]byte{0}, rights, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, fds, err := receive(b); err == nil {
		t.Errorf("got %v", fds)
	}
	w.Close()
	if n, err := r.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("read %d, %v: somebody holds the other end", n, err)
	}
}

func TestMessagesArriveAsSent(t *testing.T) {
	a, b := pair(t)
	long := bytes.Repeat([]byte("0123456789"), 100_000) // more than a socket holds
	sent := make(chan error)
	go func() {
		err := send(a, nil, nil)
		if err == nil {
			err = send(a, long, nil)
		}
		a.CloseWrite()
		sent <- err
	}()
	for _, want := range [][]byte{nil, long} {
		if got, fds, err := receive(b); err != nil || len(fds) > 0 || !bytes.Equal(got, want) {
			t.Errorf("got %d bytes, %v, %v, want %d", len(got), fds, err, len(want))
		}
	}
	if _, _, err := receive(b); err != io.EOF {
		t.Errorf("at the end: %v, want io.EOF", err)
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
}

func FuzzReceive(f *testing.F) {
	f.Add(header(0, 0))
	f.Add(append(header(0, 3), "abc"...))
	f.Add(append(header(2, 3), "abc"...))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 1<<14 {
			return // the socket would not hold it
		}
		a, b := pair(t)
		if _, err := a.Write(raw); err != nil {
			t.Fatal(err)
		}
		a.Close()
		payload, fds, err := receive(b)
		if len(payload) > max(0, len(raw)-headerSize) || len(fds) > 0 {
			t.Errorf("%d bytes and %v of %d bytes", len(payload), fds, len(raw))
		}
		if err == nil && len(raw) < headerSize+len(payload) {
			t.Errorf("%d bytes are a whole message", len(raw))
		}
		b.Close()
	})
}
