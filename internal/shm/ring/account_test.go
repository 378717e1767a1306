package ring_test

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/shm/recorder"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/marker"
)

var counted = marker.New3[uint32, uint64, string]("ringtest:counted", "writer %d seq %d pad %s")

// ledger is what one consumer was told.
type ledger struct {
	t        *testing.T
	seen     map[uint32]map[uint64]bool // by writer
	ordered  map[[2]uint32]uint64       // the last number of a writer in a ring
	numbers  map[int]uint64             // the next number in a ring
	received uint64
	gaps     uint64
}

func newLedger(t *testing.T) *ledger {
	return &ledger{t: t, seen: map[uint32]map[uint64]bool{}, ordered: map[[2]uint32]uint64{}, numbers: map[int]uint64{}}
}

// add notes an event: each at most once, those of a writer in a ring in order, and whole.
func (l *ledger) add(i int, rec *ring.Record) {
	v, err := rec.Values(nil)
	if err != nil {
		l.t.Fatal(err)
	}
	writer, seq := uint32(v[0].Bits()), v[1].Bits()
	if want := pad(seq); string(v[2].Bytes()) != want {
		l.t.Fatalf("ring %d: event %d of writer %d has text %q, want %q", i, seq, writer, v[2].Bytes(), want)
	}
	if l.seen[writer] == nil {
		l.seen[writer] = map[uint64]bool{}
	}
	if l.seen[writer][seq] {
		l.t.Fatalf("event %d of writer %d came twice", seq, writer)
	}
	l.seen[writer][seq] = true
	key := [2]uint32{uint32(i), writer}
	if last, ok := l.ordered[key]; ok && seq <= last {
		l.t.Fatalf("ring %d: event %d of writer %d came after %d", i, seq, writer, last)
	}
	l.ordered[key] = seq
	if rec.Number < l.numbers[i] {
		l.t.Fatalf("ring %d: number %d, %d was to be next", i, rec.Number, l.numbers[i])
	}
	l.gaps += rec.Number - l.numbers[i]
	l.numbers[i] = rec.Number + 1
	l.received++
}

func pad(seq uint64) string { return padding[:seq%uint64(len(padding))] }

const padding = "abcdefghijklmnopqrstuvwxyz0123456789"

// drain reads what there is of all rings.
func (l *ledger) drain(r *ring.Reader, most int) {
	for i := range r.Rings() {
		for n := 0; n < most; n++ {
			rec, err := r.Next(i)
			if err != nil {
				l.t.Fatal(err)
			}
			if rec == nil {
				break
			}
			l.add(i, rec)
		}
		if err := r.Consume(i); err != nil {
			l.t.Fatal(err)
		}
	}
}

// lost is what the rings say that the ledger cannot have.
func lost(t *testing.T, r *ring.Reader) (full, missed, other uint64) {
	for i := range r.Rings() {
		n, err := r.Counts(i)
		if err != nil {
			t.Fatal(err)
		}
		full += n.Full
		missed += n.Missed
	}
	noRing, undescribed, err := r.Lost()
	if err != nil {
		t.Fatal(err)
	}
	return full, missed, noRing + undescribed
}

func openRings(t *testing.T, path string) *ring.Reader {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ring.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// hurry marks on many goroutines until stop, and returns how often.
func hurry(goroutines, each int, between func(g int)) uint64 {
	var marked atomic.Uint64
	var all sync.WaitGroup
	for g := range goroutines {
		all.Add(1)
		go func() {
			defer all.Done()
			for seq := range uint64(each) {
				p := pad(seq)
				counted.Mark(uint32(g), seq, p)
				if seq%512 == 511 {
					between(g)
				}
			}
			marked.Add(uint64(each))
		}()
	}
	all.Wait()
	return marked.Load()
}

var grown atomic.Pointer[[]byte]

// What was received and what was lost is what was marked, whatever happens meanwhile.
func TestAccounting(t *testing.T) {
	each := 100_000
	if testing.Short() {
		each = 10_000
	}
	gomaxprocs := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(gomaxprocs)
	for _, tt := range []struct {
		name       string
		o          recorder.Options
		goroutines int
		pause      time.Duration // of the consumer
		most       int           // that it reads of a ring at a time
		restart    bool          // the consumer forgets itself now and then
		between    func(g int)
		lossless   bool
	}{
		{name: "room for all", o: recorder.Options{Size: 128 << 20}, goroutines: 4, pause: time.Millisecond, lossless: true},
		{name: "discard", o: recorder.Options{Size: 256 << 10}, goroutines: 4, pause: time.Millisecond},
		{name: "tiny", o: recorder.Options{Size: uint64(max(gomaxprocs, runtime.NumCPU())) << 10}, goroutines: 4},
		{name: "slow consumer", o: recorder.Options{Size: 64 << 10}, goroutines: 4, pause: 5 * time.Millisecond, most: 50},
		{name: "restarted consumer", o: recorder.Options{Size: 64 << 10}, goroutines: 4, pause: time.Millisecond, most: 100, restart: true},
		{name: "overwrite", o: recorder.Options{Size: 256 << 10, Mode: ring.Overwrite}, goroutines: 4, pause: time.Millisecond},
		{name: "overwrite tiny", o: recorder.Options{Size: uint64(max(gomaxprocs, runtime.NumCPU())) << 11, Mode: ring.Overwrite}, goroutines: 4},
		{name: "1000 goroutines", o: recorder.Options{Size: 1 << 20}, goroutines: 1000, pause: time.Millisecond, between: func(int) { runtime.Gosched() }},
		{name: "garbage", o: recorder.Options{Size: 1 << 20, Mode: ring.Overwrite}, goroutines: 8, between: func(g int) {
			b := make([]byte, 1<<20)
			grown.Store(&b)
			if g == 0 {
				runtime.GC()
			}
		}},
		{name: "GOMAXPROCS", o: recorder.Options{Size: 1 << 20}, goroutines: 8, between: func(g int) {
			if g == 0 {
				runtime.GOMAXPROCS(1 + int(time.Now().UnixNano())&7)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runtime.GOMAXPROCS(gomaxprocs)
			tt.o.Dir, tt.o.Name, tt.o.Patterns = t.TempDir(), "a", []string{"ringtest:counted"}
			if tt.between == nil {
				tt.between = func(int) { time.Sleep(100 * time.Microsecond) } // so that the consumer runs meanwhile
			}
			if tt.most == 0 {
				tt.most = 1 << 30
			}
			s, err := recorder.Start(tt.o)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Stop()
			l := newLedger(t)
			r := openRings(t, s.Path())
			defer func() { r.Close() }()
			var marked uint64
			done := make(chan bool)
			go func() {
				defer close(done)
				marked = hurry(tt.goroutines, max(1, each*4/tt.goroutines), tt.between)
			}()
			rounds := 0
			for running := true; running; {
				select {
				case <-done:
					running = false
				case <-time.After(tt.pause):
				}
				l.drain(r, tt.most)
				if rounds++; tt.restart && rounds%3 == 0 {
					r.Close()
					r = openRings(t, s.Path())
				}
			}
			s.Stop()
			l.drain(r, 1<<30)
			full, missed, other := lost(t, r)
			if l.received+full+missed+other != marked {
				t.Errorf("%d received + %d full + %d missed + %d without a ring = %d, %d were marked",
					l.received, full, missed, other, l.received+full+missed+other, marked)
			}
			if missed != l.gaps {
				t.Errorf("%d were missed, the numbers have gaps of %d", missed, l.gaps)
			}
			if tt.lossless && l.received != marked {
				t.Errorf("%d received of %d", l.received, marked)
			}
			if st := s.Stats(); st.Events+st.Full+st.NoRing+st.Undescribed != marked || st.Full != full {
				t.Errorf("the session counts %+v, %d were marked", st, marked)
			}
			if ended, err := r.Ended(); !ended || err != nil {
				t.Errorf("ended %t, %v", ended, err)
			}
			t.Logf("%d marked: %d received, %d full, %d missed, %d without a ring", marked, l.received, full, missed, other)
		})
	}
}

// Two sessions record one marker, each with a consumer of its own, and end at different times.
func TestTwoSessions(t *testing.T) {
	dir := t.TempDir()
	var sessions []*recorder.Session
	var readers []*ring.Reader
	var ledgers []*ledger
	for i, mode := range []ring.Mode{ring.Discard, ring.Overwrite} {
		s, err := recorder.Start(recorder.Options{Dir: dir, Name: fmt.Sprint("s", i), Mode: mode, Size: 128 << 10, Patterns: []string{"ringtest:counted"}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Stop()
		r := openRings(t, s.Path())
		defer r.Close()
		sessions, readers, ledgers = append(sessions, s), append(readers, r), append(ledgers, newLedger(t))
	}
	done := make(chan uint64)
	go func() { done <- hurry(4, 50_000, func(int) { time.Sleep(100 * time.Microsecond) }) }()
	var marked uint64
	for marked == 0 {
		select {
		case marked = <-done:
		case <-time.After(time.Millisecond):
		}
		for i := range readers {
			ledgers[i].drain(readers[i], 1<<30)
		}
	}
	sessions[0].Stop()
	// The second one goes on alone.
	for g := range uint32(3) {
		counted.Mark(100+g, 0, "")
	}
	sessions[1].Stop()
	for i := range readers {
		ledgers[i].drain(readers[i], 1<<30)
		full, missed, other := lost(t, readers[i])
		if got, want := ledgers[i].received+full+missed+other, marked+uint64(3*i); got != want {
			t.Errorf("session %d: %d received + %d full + %d missed + %d others = %d, %d were marked", i, ledgers[i].received, full, missed, other, got, want)
		}
	}
	if counted.Enabled() {
		t.Error("the marker is enabled, and nobody records")
	}
}

// A session that is started and stopped at full rate gets every event between and none outside.
func TestStartStop(t *testing.T) {
	stop := make(chan bool)
	var all sync.WaitGroup
	for g := range uint32(4) {
		all.Add(1)
		go func() {
			defer all.Done()
			for seq := uint64(0); ; seq++ {
				select {
				case <-stop:
					return
				default:
					p := pad(seq)
					counted.Mark(g, seq, p)
				}
			}
		}()
	}
	dir := t.TempDir()
	for i := range 20 {
		s, err := recorder.Start(recorder.Options{Dir: dir, Name: fmt.Sprint("s", i), Size: 1 << 20, Patterns: []string{"ringtest:counted"}})
		if err != nil {
			t.Fatal(err)
		}
		r := openRings(t, s.Path())
		time.Sleep(time.Millisecond)
		s.Stop()
		l := newLedger(t)
		l.drain(r, 1<<30)
		full, missed, other := lost(t, r)
		if st := s.Stats(); l.received != st.Events || full != st.Full || missed != 0 || other != 0 {
			t.Errorf("%d received, %d full, %d missed, %d others; the session counts %+v", l.received, full, missed, other, st)
		}
		r.Close()
		os.Remove(s.Path())
	}
	close(stop)
	all.Wait()
}
