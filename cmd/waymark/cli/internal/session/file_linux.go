package session

import (
	"time"

	"golang.org/x/sys/unix"
)

// fileState is what a path led to at some time.
type fileState struct {
	device, inode uint64
	changed       unix.Timespec
	overlay       bool // it is on overlayfs
}

// overlayMagic is OVERLAYFS_SUPER_MAGIC, include/uapi/linux/magic.h.
const overlayMagic = 0x794c7630

// lookAt returns the state of a file, nil if there is none.
func lookAt(path string) *fileState {
	var st unix.Stat_t
	var fs unix.Statfs_t
	if unix.Stat(path, &st) != nil || unix.Statfs(path, &fs) != nil {
		return nil
	}
	return &fileState{uint64(st.Dev), st.Ino, st.Ctim, fs.Type == overlayMagic}
}

// watchFile warns, once, that a path leads to another file than the one that is traced. Probes are in a file, and
// the processes that run it are traced for as long as they do.
func (s *Session) watchFile() {
	tick := time.NewTicker(fileInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.over:
			return
		}
		now := lookAt(s.Subject.Path)
		if now == nil {
			continue // removed, or between two renames
		}
		if what, ok := s.file.differs(now); ok {
			s.Env.Warning("%s %s", s.named, what)
			s.Env.Hint("end waymark and start it again to trace them")
			return
		}
	}
}

// differs reports whether a path leads to another file now, and what follows from it.
func (f *fileState) differs(now *fileState) (what string, ok bool) {
	at := time.Now().Format("15:04:05")
	switch {
	case now.device != f.device || now.inode != f.inode:
		return "was replaced by another file before " + at + ": processes that run the old one are traced, those that run the new one are not", true
	case now.overlay && now.changed != f.changed:
		return "was changed on overlayfs before " + at + ", which copies a file when it changes: processes that run the copy are not traced", true
	}
	return "", false
}

// fileInterval is how often a path is looked at.
const fileInterval = time.Second
