package section

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// AddressSection is the section with the addresses of the markers of include/waymark/simple.h,
// without the .debug_ that it has in the file.
const AddressSection = "simple_marker.1"

// Address is where one copy of a marker stands.
type Address struct {
	Address uint64
	Record  Record
	Size    int // bytes of code that the marker itself has there
}

// maxAddresses bounds how many are read.
const maxAddresses = 1 << 18

// ParseAddresses reads the bytes of AddressSection of a file with 64-bit addresses. records are
// the bytes of Section. What was in functions that the linker dropped is at address 0 and left out.
func ParseAddresses(data, records []byte) (all []Address, err error) {
	const size = 3 * 8
	read := map[uint64]Record{} // by where they begin: copies share what they say
	for at := 0; at+size <= len(data); at += size {
		address, record, code := binary.LittleEndian.Uint64(data[at:]), binary.LittleEndian.Uint64(data[at+8:]), binary.LittleEndian.Uint64(data[at+16:])
		if address == 0 {
			continue
		}
		if len(all) == maxAddresses {
			return all, fmt.Errorf("more than %d addresses of simple markers", maxAddresses)
		}
		// Strings begin behind others, so that the same bytes are part of five records at most.
		if record >= uint64(len(records)) || record > 0 && records[record-1] != 0 || code > 1 {
			return all, fmt.Errorf("address of a simple marker at byte %d: record at %#x, %d bytes of code", at, record, code)
		}
		r, known := read[record]
		if !known {
			if r, err = recordAt(records[record:]); err != nil {
				return all, fmt.Errorf("address of a simple marker at byte %d: %w", at, err)
			}
			read[record] = r
		}
		all = append(all, Address{address, r, int(code)})
	}
	return all, nil
}

func recordAt(data []byte) (Record, error) {
	fields, n := split(data)
	if n == 0 {
		return Record{}, errors.New("its record is cut off")
	}
	return decode(fields)
}
