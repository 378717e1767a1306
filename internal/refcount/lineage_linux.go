package refcount

import (
	"time"

	"github.com/waymark-trace/waymark/internal/procfs"
	"golang.org/x/sys/unix"
)

// tick is the unit of a process's start, USER_HZ.
const tick = 10 * time.Millisecond

// now returns the time in ticks since boot, as /proc/PID/stat counts.
func now() uint64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) // it cannot fail
	return uint64(ts.Nano()) / uint64(tick)
}

// doubt is how long after raising a counter a child may start that was copied before: a
// process's start is taken after its memory was copied (copy_process, kernel/fork.c).
const doubt = uint64(100 * time.Millisecond / tick)

// raise is what is known about a counter that was raised.
type raise struct {
	base uint16 // its value before
	at   uint64 // when, in ticks since boot
}

// inherited reports whether a child of fork that began at start, and whose counter has a
// value, was copied with our raise in it. The time tells, save in the moment of raising
// itself, when the value does.
func (r raise) inherited(start uint64, value uint16) bool {
	switch {
	case start > r.at+doubt:
		return value > 0
	case start+1 < r.at:
		return false
	}
	return value > r.base
}

// lineage is what was raised in the processes of one image: a process, and the children of
// fork that have not executed another program. It outlives them, because they have children too.
type lineage struct {
	members map[int]bool
	raised  map[place]raise // the first of each
}

// remember notes a raise for those who inherit it.
func (k *Keeper) remember(p *process, at place) {
	if p.image == (procfs.Image{}) {
		return
	}
	l := k.lineages[p.image]
	if l == nil {
		l = &lineage{map[int]bool{}, map[place]raise{}}
		k.lineages[p.image] = l
	}
	l.members[p.pid] = true
	if _, known := l.raised[at]; !known {
		l.raised[at] = p.raised[at]
	}
}

// bequeath notes which counters were raised when p was copied.
func (l *lineage) bequeath(p *process) {
	if l == nil {
		return
	}
	l.members[p.pid] = true
	for at, r := range l.raised {
		if v, err := p.memory.Counter(at.address); err == nil && r.inherited(p.start, v) {
			p.raised[at] = r
		}
	}
}

// shares reports whether a process has one address space with another of the lineage.
func (l *lineage) shares(id identity) bool {
	if l == nil {
		return false
	}
	for pid := range l.members {
		if pid != id.pid && shareMemory(pid, id.pid) {
			return true
		}
	}
	return false
}

// kcmpVM is KCMP_VM of include/uapi/linux/kcmp.h.
const kcmpVM = 1

// shareMemory reports whether two processes have one address space, as after vfork. Where the
// kernel does not say, they are taken to: a counter left raised does less harm than
// a parent's lowered.
func shareMemory(a, b int) bool {
	differ, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(a), uintptr(b), kcmpVM, 0, 0, 0)
	return errno == 0 && differ == 0 || errno != 0 && errno != unix.ESRCH
}

// identity is a process, whoever has its number later.
type identity struct {
	pid   int
	start uint64
}

func identify(pid int) (identity, error) {
	st, err := procfs.ReadStat(pid)
	if err == nil && (st.Kernel || st.State == 'Z' || st.State == 'X') {
		err = unix.ESRCH
	}
	return identity{pid, st.Start}, err
}
