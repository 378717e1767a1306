package ring

import (
	"fmt"
	"testing"
)

// The model is the protocol of docs/rings.md with every load and store a step of its own: a ring of
// two sub-buffers, each a header cell and room for one record of two cells, one writer, one reader. All schedules of their
// steps are explored, the writer is killed after each of its steps, and the values that a reader may
// believe are checked. Cells hold the number of the sub-buffer's lap or of the event, so that a torn copy
// shows. Stores take effect in order: that is what x86-64 does, and fences and atomic stores elsewhere.
const (
	modelSubs   = 2
	modelCells  = 3 // of a sub-buffer: header, and a record of two
	modelEvents = 5
)

// mutation is a way to get the protocol wrong.
type mutation string

const (
	none            mutation = ""
	headFirst       mutation = "publish head before the record"
	headerLater     mutation = "publish head before the sub-buffer's header"
	oldestLater     mutation = "publish oldest after overwriting"
	neverOldest     mutation = "never publish oldest"
	noSecondLook    mutation = "believe a copy without a second look"
	ignoreConsumed  mutation = "overwrite what is not consumed"
	consumeTooSoon  mutation = "consume before copying"
	lostUncounted   mutation = "do not count what is lost"
	looksBeforeCopy mutation = "look a second time before copying"
)

// world is all of memory, and where writer and reader are. It is comparable: a map of them tells what was seen.
type world struct {
	// Shared.
	data           [modelSubs * modelCells]int8
	before         [modelSubs]int8 // in the header: events written before it
	head, oldest   int8            // in records: a record is a sub-buffer
	consumed, full int8

	// The writer's own.
	wpc     int8
	begun   int8 // events that were marked, the one in flight included
	written int8 // records that it wrote: where the next goes

	// The reader's own.
	rpc          int8
	position     int8
	seenHead     int8
	copied       [modelCells]int8
	copiedBefore int8
	received     int8
	missed       int8
	last         int8 // the last event returned
}

type model struct {
	t       *testing.T
	mode    Mode
	mutated mutation
	seen    map[world]bool
	killed  int
	wrong   string
}

func (m *model) is(x mutation) bool { return m.mutated == x }

func (m *model) fail(format string, args ...any) {
	if m.wrong == "" {
		m.wrong = fmt.Sprintf(format, args...)
	}
}

// writerSteps are the writer's stores for one event, as Begin, turn and Commit make them. A step
// returns false when the event ends there.
func (m *model) writerSteps() []func(w *world) bool {
	slot := func(w *world) int8 { return w.written % modelSubs * modelCells }
	begin := func(w *world) bool { w.begun++; return true }
	room := func(w *world) bool {
		if m.mode == Overwrite || m.is(ignoreConsumed) {
			return true
		}
		if w.written+1-w.consumed <= modelSubs {
			return true
		}
		if !m.is(lostUncounted) {
			w.full++
		}
		return false
	}
	oldest := func(w *world) bool {
		if n := w.written + 1 - modelSubs; m.mode == Overwrite && n > 0 && !m.is(neverOldest) {
			w.oldest = n
		}
		return true
	}
	header := func(w *world) bool {
		w.data[slot(w)] = w.written
		w.before[w.written%modelSubs] = w.written
		return true
	}
	first := func(w *world) bool { w.data[slot(w)+1] = w.begun; return true }
	second := func(w *world) bool { w.data[slot(w)+2] = w.begun; return true }
	head := func(w *world) bool { w.head = w.written + 1; return true }
	commit := func(w *world) bool { w.head = w.written + 1; w.written++; return false }
	switch m.mutated {
	case headFirst:
		return []func(*world) bool{begin, room, oldest, header, head, first, second, commit}
	case headerLater:
		return []func(*world) bool{begin, room, oldest, first, second, head, header, commit}
	case oldestLater:
		return []func(*world) bool{begin, room, header, first, second, oldest, commit}
	}
	return []func(*world) bool{begin, room, oldest, header, first, second, commit}
}

// readerSteps are the reader's loads and stores for one record, as fill makes them. A step returns false when
// it begins anew.
func (m *model) readerSteps() []func(w *world) bool {
	loadHead := func(w *world) bool { w.seenHead = w.head; return true }
	loadOldest := func(w *world) bool {
		if m.mode == Overwrite && w.position < w.oldest {
			w.position = w.oldest
		}
		return w.position < w.seenHead // else there is nothing, or the writer went round meanwhile
	}
	look := func(w *world) bool { return m.mode == Discard || w.oldest <= w.position }
	var cells []func(*world) bool
	for i := range int8(modelCells) {
		cells = append(cells, func(w *world) bool {
			w.copied[i] = w.data[w.position%modelSubs*modelCells+i]
			if i == 0 {
				w.copiedBefore = w.before[w.position%modelSubs]
			}
			return true
		})
	}
	accept := func(w *world) bool { m.accept(w); return true }
	consume := func(w *world) bool { w.consumed = w.position; return false }
	steps := []func(*world) bool{loadHead, loadOldest}
	switch m.mutated {
	case consumeTooSoon:
		steps = append(steps, func(w *world) bool { w.consumed = w.position + 1; return true })
	case looksBeforeCopy:
		steps = append(steps, look)
	}
	steps = append(steps, cells...)
	if !m.is(noSecondLook) && !m.is(looksBeforeCopy) {
		steps = append(steps, look)
	}
	return append(steps, accept, consume)
}

// accept believes a copy: it must be of the sub-buffer that was asked for, whole, and the next in order.
func (m *model) accept(w *world) {
	if w.copied[0] != w.position {
		m.fail("a sub-buffer of lap position %d was read as %d", w.copied[0], w.position)
	}
	if w.copied[1] != w.copied[2] {
		m.fail("a torn event was read: %d and %d", w.copied[1], w.copied[2])
	}
	if w.copied[1] <= w.last {
		m.fail("event %d was read after %d", w.copied[1], w.last)
	}
	w.missed += w.copiedBefore - w.received - w.missed
	w.last = w.copied[1]
	w.received++
	w.position++
	w.copied, w.copiedBefore = [modelCells]int8{}, 0
}

// explore goes through every schedule from here.
func (m *model) explore(w world, writer, reader []func(*world) bool) {
	if m.seen[w] || m.wrong != "" {
		return
	}
	m.seen[w] = true
	m.kill(w)
	done := int(w.begun) == modelEvents && w.wpc == 0
	if done && w.position == w.head && w.rpc == 0 {
		if w.received+w.missed+w.full != w.begun {
			m.fail("%d events were marked, %d received, %d missed, %d lost", w.begun, w.received, w.missed, w.full)
		}
	}
	if !done {
		next := w
		if writer[w.wpc](&next) {
			next.wpc++
		} else {
			next.wpc = 0
		}
		m.explore(next, writer, reader)
	}
	next := w
	if reader[w.rpc](&next) {
		next.rpc++
	} else {
		next.rpc = 0
	}
	m.explore(next, writer, reader)
}

// kill ends the writer here: who reads what it left finds everything from the oldest to the head, whole, and
// misses the event in flight alone.
func (m *model) kill(w world) {
	m.killed++
	floor := w.oldest
	if m.mode == Discard {
		floor = w.consumed
	}
	last := int8(-1)
	for at := floor; at < w.head; at++ {
		cell := w.data[at%modelSubs*modelCells:]
		if cell[0] != at || cell[1] != cell[2] || cell[1] <= last {
			m.fail("killed: what is published at %d is %v", at, cell[:modelCells])
		}
		last = cell[1]
	}
	complete := w.begun
	if w.wpc != 0 {
		complete-- // in flight
	}
	if m.mode == Discard && w.wpc == 0 && w.head+w.full < complete {
		m.fail("killed: %d events were complete, %d are published, %d lost", complete, w.head, w.full)
	}
	if m.mode == Overwrite && (w.head < complete || w.head-floor < min(w.head, modelSubs-1)) {
		m.fail("killed: %d events were complete, %d to %d are there", complete, floor, w.head)
	}
}

func check(t *testing.T, mode Mode, x mutation) *model {
	m := &model{t: t, mode: mode, mutated: x, seen: map[world]bool{}}
	w := world{}
	for i := range w.data {
		w.data[i] = -1
	}
	m.explore(w, m.writerSteps(), m.readerSteps())
	return m
}

func TestModel(t *testing.T) {
	for _, mode := range []Mode{Discard, Overwrite} {
		m := check(t, mode, none)
		if m.wrong != "" {
			t.Errorf("%s: %s", mode, m.wrong)
		}
		t.Logf("%s: %d states, the writer killed in each", mode, m.killed)
		if m.killed < 1000 {
			t.Errorf("%s: only %d states were explored", mode, m.killed)
		}
	}
}

// The checker finds what is wrong with protocols that are.
func TestModelBites(t *testing.T) {
	for _, tt := range []struct {
		mode Mode
		mutation
	}{
		{Discard, headFirst}, {Overwrite, headFirst},
		{Discard, headerLater}, {Overwrite, headerLater},
		{Overwrite, oldestLater}, {Overwrite, neverOldest},
		{Overwrite, noSecondLook}, {Overwrite, looksBeforeCopy},
		{Discard, ignoreConsumed}, {Discard, consumeTooSoon}, {Discard, lostUncounted},
	} {
		if m := check(t, tt.mode, tt.mutation); m.wrong == "" {
			t.Errorf("%s: nothing is found wrong with: %s", tt.mode, tt.mutation)
		} else {
			t.Logf("%s: %s: %s", tt.mode, tt.mutation, m.wrong)
		}
	}
}
