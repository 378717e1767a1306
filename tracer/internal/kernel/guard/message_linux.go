package guard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"golang.org/x/sys/unix"
)

// A message is, in the byte order of the machine:
//
//	uint32 descriptors
//	uint32 size
//	one byte for every maxRights descriptors, which carries them as SCM_RIGHTS
//	size bytes
const headerSize = 8

const (
	// maxRights is less than the kernel's SCM_MAX_FD, 253.
	maxRights = 250
	// maxDescriptors is more than a process may have open by default, by a factor of 16.
	maxDescriptors = 1 << 20
	// maxSize is 100 bytes for each of as many sites.
	maxSize = 100 * maxDescriptors
)

// send sends a message. The descriptors stay the sender's.
func send(c *net.UnixConn, payload []byte, fds []int) error {
	if len(payload) > maxSize || len(fds) > maxDescriptors {
		return fmt.Errorf("message of %d bytes and %d descriptors: at most %d and %d", len(payload), len(fds), maxSize, maxDescriptors)
	}
	var header [headerSize]byte
	binary.NativeEndian.PutUint32(header[:], uint32(len(fds)))
	binary.NativeEndian.PutUint32(header[4:], uint32(len(payload)))
	if _, err := c.Write(header[:]); err != nil {
		return err
	}
	for len(fds) > 0 {
		n := min(len(fds), maxRights)
		if _, _, err := c.WriteMsgUnix([]byte{0}, unix.UnixRights(fds[:n]...), nil); err != nil {
			return fmt.Errorf("passing descriptors: %w", err)
		}
		fds = fds[n:]
	}
	_, err := c.Write(payload)
	return err
}

// receive receives a message. The error is io.EOF when the other side closed its end between
// messages. The descriptors are the receiver's to close, and closed on error.
func receive(c *net.UnixConn) (payload []byte, fds []int, err error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(c, header[:]); err != nil {
		return nil, nil, err
	}
	count, size := binary.NativeEndian.Uint32(header[:]), binary.NativeEndian.Uint32(header[4:])
	if count > maxDescriptors || size > maxSize {
		return nil, nil, fmt.Errorf("message of %d bytes and %d descriptors: at most %d and %d", size, count, maxSize, maxDescriptors)
	}
	if fds, err = receiveRights(c, int(count)); err != nil {
		closeAll(fds)
		return nil, nil, err
	}
	var b bytes.Buffer // grows with what really comes
	if _, err := io.CopyN(&b, c, int64(size)); err != nil {
		closeAll(fds)
		return nil, nil, noEOF(err)
	}
	return b.Bytes(), fds, nil
}

// receiveRights returns what it got on error, too.
func receiveRights(c *net.UnixConn, count int) (fds []int, err error) {
	control := make([]byte, unix.CmsgSpace(4*maxRights))
	for len(fds) < count {
		n, length, flags, _, err := c.ReadMsgUnix(make([]byte, 1), control)
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fds, noEOF(err)
		}
		messages, err := unix.ParseSocketControlMessage(control[:length])
		if err != nil {
			return fds, fmt.Errorf("descriptors passed: %w", err)
		}
		before := len(fds)
		for i := range messages {
			if more, err := unix.ParseUnixRights(&messages[i]); err == nil {
				fds = append(fds, more...)
			}
		}
		if flags&unix.MSG_CTRUNC != 0 {
			return fds, fmt.Errorf("descriptors passed: %w", unix.EMFILE)
		}
		if len(fds) == before || len(fds) > count {
			return fds, errors.New("descriptors passed: not as many as announced")
		}
	}
	return fds, nil
}

// noEOF makes the end within a message an error.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}
