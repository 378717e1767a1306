package ring

import (
	"fmt"
	"runtime/debug"
)

// guard runs what reads the mapping. A file that somebody has cut short ends in a fault there, which
// becomes an error.
func (r *Reader) guard(read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			fault, ok := v.(interface{ Addr() uintptr })
			if !ok {
				panic(v)
			}
			err = fmt.Errorf("%s: the file was cut short: fault at 0x%x", r.name, fault.Addr())
		}
	}()
	return read()
}
