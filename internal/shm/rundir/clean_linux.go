package rundir

import (
	"errors"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// MaxDead is how many bytes of rings dead processes may leave: the directory is usually memory.
const MaxDead = 256 << 20

// Clean removes what dead processes left: sockets, and of their rings the oldest beyond limit bytes.
// It returns how many rings it removed.
func (d *Dir) Clean(limit int64) (removed int, err error) {
	names, err := d.names()
	if err != nil {
		return 0, err
	}
	type left struct {
		of   Process
		name string
		size int64
		at   int64
	}
	var rings []left
	var total int64
	for _, name := range names {
		if rest, ok := strings.CutSuffix(name, socketSuffix); ok {
			if _, ok := ParseProcess(rest); ok && d.deaf(name) {
				_ = d.Remove(name) // somebody else may have cleaned at the same time
			}
			continue
		}
		p, ok := ParseProcess(name)
		if !ok {
			continue
		}
		own, dead, err := d.Rings(p)
		if err != nil || !dead {
			if err == nil {
				own.Close()
			}
			continue
		}
		all, _ := own.List()
		for _, r := range all {
			rings = append(rings, left{p, r.Session + RingSuffix, r.Size, r.Modified.UnixNano()})
			total += r.Size
		}
		own.Close()
		if len(all) == 0 {
			_ = d.RemoveProcess(p) // not empty after all, or gone
		}
	}
	slices.SortFunc(rings, func(a, b left) int { return int(min(max(a.at-b.at, -1), 1)) })
	var errs []error
	for _, r := range rings {
		if total <= limit {
			break
		}
		if err := d.Remove(r.of.String() + "/" + r.name); err != nil {
			errs = append(errs, err)
			continue
		}
		total -= r.size
		removed++
		_ = d.RemoveProcess(r.of) // it may hold more
	}
	return removed, errors.Join(errs...)
}

// deaf reports whether nobody listens at a socket any more. The kernel knows, whatever the
// namespace of numbers its process was in.
func (d *Dir) deaf(name string) bool {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrUnix{Name: d.Inside(name)}) == unix.ECONNREFUSED
}
