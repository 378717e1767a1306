package procfs

import (
	"encoding/binary"
	"errors"
)

// Image identifies the execution of a program: the address and the value of the 16 random
// bytes that execve gives it (AT_RANDOM, getauxval(3)). Children have their parent's until
// they execute a program themselves. Nobody has reason to overwrite them: the C library's
// stack protector takes them from there at the start.
type Image struct {
	Address uint64
	Random  [16]byte
}

const atRandom = 25 // AT_RANDOM of include/uapi/linux/auxvec.h

var errImage = errors.New("no AT_RANDOM in the auxiliary vector of a 64-bit process")

// ReadImage returns the image of a process, whose memory is m.
func ReadImage(pid int, m *Memory) (Image, error) {
	s, err := read(pid, "auxv")
	if err != nil {
		return Image{}, err
	}
	for b := []byte(s); len(b) >= 16; b = b[16:] {
		if binary.NativeEndian.Uint64(b) == atRandom {
			i := Image{Address: binary.NativeEndian.Uint64(b[8:])}
			return i, m.Read(i.Random[:], i.Address)
		}
	}
	return Image{}, errImage
}
