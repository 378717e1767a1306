package ctf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// maxMetadata bounds a description. LTTng's of a whole kernel has one megabyte.
const maxMetadata = 64 << 20

// readMetadata returns the text of a trace's metadata, up to the first damaged packet.
func readMetadata(dir string) (string, error) {
	f, err := os.Open(filepath.Join(dir, "metadata"))
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxMetadata+1))
	switch {
	case err != nil:
		return "", err
	case len(data) > maxMetadata:
		return "", &Error{f.Name(), maxMetadata, errors.New("metadata goes on")}
	}
	text, at, err := metadataText(data)
	if err != nil {
		err = &Error{f.Name(), int64(at), err}
	}
	return text, err
}

// ErrVersion2 means that a trace is in version 2 of the format, which this package does not read.
var ErrVersion2 = errors.New("the trace is in CTF 2, and only CTF 1.8 can be read")

const (
	jsonSequence   = 0x1e // precedes each JSON text of CTF 2's metadata (RFC 7464)
	packetMagic    = 0x75d11d57
	metadataHeader = 37 // bytes: magic, UUID, checksum, content, packet, schemes, version
)

// metadataText takes metadata out of its packets, if it is in some (specification, 7.1), and returns where an error is.
func metadataText(data []byte) (text string, at int, err error) {
	if len(data) > 0 && data[0] == jsonSequence {
		return "", 0, ErrVersion2
	}
	if len(data) < 4 {
		return string(data), 0, nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if order.Uint32(data) != packetMagic {
		order = binary.BigEndian
	}
	if order.Uint32(data) != packetMagic {
		return string(data), 0, nil
	}
	var b bytes.Buffer
	for at < len(data) {
		rest := data[at:]
		switch {
		case len(rest) < metadataHeader:
			return b.String(), at, io.ErrUnexpectedEOF
		case order.Uint32(rest) != packetMagic:
			return b.String(), at, errors.New("no packet of metadata begins here")
		case rest[32] != 0 || rest[33] != 0:
			return b.String(), at, errors.New("packet of metadata is compressed or encrypted")
		case rest[35] == 2:
			return b.String(), at, ErrVersion2
		case rest[35] != 1:
			return b.String(), at, fmt.Errorf("packet of metadata is of version %d", rest[35])
		}
		content, size := uint64(order.Uint32(rest[24:])), uint64(order.Uint32(rest[28:]))
		if content%8 != 0 || size%8 != 0 || content < 8*metadataHeader || size < content || size/8 > uint64(len(rest)) {
			return b.String(), at, fmt.Errorf("packet of metadata with %d bits of %d, where %d bytes are left", content, size, len(rest))
		}
		b.Write(rest[metadataHeader : content/8])
		at += int(size / 8)
	}
	return b.String(), 0, nil
}
