package history

// A mark is one hit of both markers by a thread, with the thread's own times of CLOCK_MONOTONIC: the marker mark was hit
// between begin and mid, and done between mid and end. A thread that was killed leaves zeros.
type mark struct{ begin, mid, end int64 }

// A thread is what one thread of the program wrote down. The index of a mark is its sequence number.
type thread struct {
	id        uint32
	pid, tid  int   // tid is 0 if a goroutine was not locked to its thread
	image     int   // which program of the process: it grows when the process executes itself
	child     bool  // of a process that a thread made
	born      int64 // of a child: before it was forked
	goroutine int64 // 0 in C
	marks     []mark
}

// The markers of the program, as indexes.
const (
	markMark = iota
	markDone
	markKinds
)

var markNames = [markKinds]string{"history:mark", "history:done"}

// span returns when a marker was hit: not before from, and not after to, which is 0 if the thread was killed
// before it could write that. It reports false if the thread did not come so far.
func (m *mark) span(kind int) (from, to int64, begun bool) {
	if kind == markMark {
		return m.begin, m.mid, m.begin != 0
	}
	return m.mid, m.end, m.mid != 0
}

func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// checkValue returns the third argument of an event: in Go, mark has a text that follows from it.
func checkValue(id uint32, seq uint64) uint64 { return scramble(uint64(id)<<40 ^ seq) }

const letters = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"

func checkText(id uint32, seq uint64) string {
	check := checkValue(id, seq)
	return letters[check%20 : check%20+check>>32%40]
}
