package headroom

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
)

// Bytes returns what is left of the memory of the machine, and of each memory cgroup that this process is in, whichever is
// least, and which it is: "" the machine, else the cgroup's directory. What can be had back at once, the files that nobody
// has used lately, counts as left. The error is that of not knowing anything.
//
// It is a moment's answer: others may take of the same memory.
func Bytes() (left int64, of string, err error) { return bytes("/") }

// bytes is Bytes of a file system that is mounted at root.
func bytes(root string) (left int64, of string, err error) {
	left, err = available(path.Join(root, "proc/meminfo"))
	groups, e := groups(root)
	if e != nil && err != nil {
		return 0, "", err
	}
	for _, g := range groups {
		if n, ok := g.left(root); ok && (err != nil || n < left) {
			left, of, err = n, g.dir, nil
		}
	}
	return left, of, err
}

// available returns MemAvailable, which is in KiB.
func available(name string) (int64, error) {
	n, ok := number(name, "MemAvailable:")
	if !ok {
		return 0, errors.New("reading how much memory is available: " + name + " does not say")
	}
	return n << 10, nil
}

// cgroup is one with a limit of memory, or without. Version 2 has other names for the same.
type cgroup struct {
	dir string
	v2  bool
}

func (g cgroup) left(root string) (int64, bool) {
	limit, used, idle := "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
	if g.v2 {
		limit, used, idle = "memory.max", "memory.current", "inactive_file"
	}
	dir := path.Join(root, g.dir)
	most, ok := number(path.Join(dir, limit), "")
	if !ok { // max, or the root of version 2
		return 0, false
	}
	taken, ok := number(path.Join(dir, used), "")
	if !ok {
		return 0, false
	}
	reclaimable, _ := number(path.Join(dir, "memory.stat"), idle)
	return max(most-taken+min(reclaimable, taken), 0), true
}

// groups returns the cgroups of memory that this process is in, from its own up to the highest that can be seen.
func groups(root string) (all []cgroup, err error) {
	own := map[bool]string{} // by version 2
	if err = lines(path.Join(root, "proc/self/cgroup"), func(line string) {
		f := strings.SplitN(line, ":", 3) // cgroups(7)
		switch {
		case len(f) < 3:
		case f[1] == "":
			own[true] = f[2]
		case has(f[1], "memory"):
			own[false] = f[2]
		}
	}); err != nil {
		return nil, err
	}
	err = lines(path.Join(root, "proc/self/mountinfo"), func(line string) {
		before, after, _ := strings.Cut(line, " - ") // proc_pid_mountinfo(5)
		f, kind := strings.Fields(before), strings.Fields(after)
		if len(f) < 5 || len(kind) < 3 {
			return
		}
		v2 := kind[0] == "cgroup2"
		if !v2 && (kind[0] != "cgroup" || !has(kind[2], "memory")) {
			return
		}
		of, ok := own[v2]
		if !ok {
			return
		}
		// Of a container the mount shows the process's own cgroup, or one above it.
		below, ok := strings.CutPrefix(of, strings.TrimSuffix(f[3], "/"))
		if !ok {
			below = "/"
		}
		for dir := path.Clean("/" + below); ; dir = path.Dir(dir) {
			all = append(all, cgroup{path.Join(f[4], dir), v2})
			if dir == "/" {
				return
			}
		}
	})
	return all, err
}

// has reports whether a list with commas has a word.
func has(list, word string) bool { return strings.Contains(","+list+",", ","+word+",") }

// number returns the number behind a word at the beginning of a line, or the file's first without one.
func number(name, word string) (n int64, ok bool) {
	_ = lines(name, func(line string) { // not to know is an answer, too
		f := strings.Fields(line)
		if word != "" && len(f) > 0 && f[0] == word {
			f = f[1:]
		} else if word != "" {
			return
		}
		if len(f) > 0 && !ok {
			v, err := strconv.ParseInt(f[0], 10, 64)
			n, ok = v, err == nil
		}
	})
	return n, ok
}

// maxFile bounds what is read of a file: mountinfo can be long.
const maxFile = 1 << 20

func lines(name string, each func(string)) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	s := bufio.NewScanner(io.LimitReader(f, maxFile))
	for s.Scan() {
		each(s.Text())
	}
	return s.Err()
}
