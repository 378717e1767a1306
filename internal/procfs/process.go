package procfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

func path(pid int, name string) string {
	return "/proc/" + strconv.Itoa(pid) + "/" + name
}

// Gone reports whether err means that the process has ended.
func Gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, noProcess)
}

// maxFile bounds every file read here but maps; status is the longest, about 1.5 KiB.
const maxFile = 64 << 10

func read(pid int, name string) (string, error) {
	f, err := open(path(pid, name))
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	return string(b), err
}

// PIDs returns every process that runs now, in the order of /proc.
func PIDs() ([]int, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// Comm returns the name that a process's main thread has, at most 15 bytes of anything.
func Comm(pid int) (string, error) {
	s, err := read(pid, "comm")
	return strings.TrimSuffix(s, "\n"), err
}

// Stat has the used fields of /proc/PID/stat.
type Stat struct {
	State byte // R, S, D, T, t, Z, X, …
	// Start is when the process began, in clock ticks since boot. A process number and its
	// start identify a process even after the number was used again.
	Start uint64
	// Kernel is true for a kernel thread, which has no program.
	Kernel bool
}

// pfKthread is PF_KTHREAD of the kernel's include/linux/sched.h.
const pfKthread = 0x00200000

// ReadStat reads the stat file of a process's first thread, which has the same content. QEMU's user
// mode invents /proc/PID/stat for a program that reads its own, and the start time would differ from
// the one that other processes read.
func ReadStat(pid int) (Stat, error) { return ReadThreadStat(pid, pid) }

// ReadThreadStat reads the stat of a thread of a process.
func ReadThreadStat(pid, thread int) (Stat, error) {
	name := fmt.Sprintf("task/%d/stat", thread)
	s, err := read(pid, name)
	if err != nil {
		return Stat{}, err
	}
	st, err := parseStat(s)
	if err != nil {
		return st, fmt.Errorf("%s: %w", path(pid, name), err)
	}
	return st, nil
}

func parseStat(s string) (Stat, error) {
	// The second field is the name in parentheses, which may hold blanks and parentheses.
	end := strings.LastIndexByte(s, ')')
	f := strings.Fields(s[end+1:])
	// proc_pid_stat(5): flags is field 9, starttime field 22; f[0] is field 3.
	if end < 0 || len(f) < 20 || len(f[0]) != 1 {
		return Stat{}, errors.New("not in the format of proc_pid_stat(5)")
	}
	flags, err := strconv.ParseUint(f[6], 10, 64)
	if err != nil {
		return Stat{}, err
	}
	start, err := strconv.ParseUint(f[19], 10, 64)
	if err != nil {
		return Stat{}, err
	}
	return Stat{State: f[0][0], Start: start, Kernel: flags&pfKthread != 0}, nil
}
