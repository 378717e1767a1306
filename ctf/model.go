package ctf

import (
	"encoding/hex"
	"errors"
	"math"
	"math/bits"
	"sync"
)

// UUID identifies a trace or a clock. The zero UUID is none.
type UUID [16]byte

// String returns the usual form, 8-4-4-4-12 digits.
func (u UUID) String() string {
	h := hex.EncodeToString(u[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// ParseUUID reads the output of String.
func ParseUUID(s string) (u UUID, err error) {
	digits := make([]byte, 0, 32)
	for i := range len(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (s[i] == '-') {
			return u, errors.New("not a UUID")
		}
		if !dash {
			digits = append(digits, s[i])
		}
	}
	if len(digits) != 32 {
		return u, errors.New("not a UUID")
	}
	_, err = hex.Decode(u[:], digits)
	return u, err
}

// Clock is the clock of timestamps.
type Clock struct {
	Name        string
	UUID        UUID
	Description string
	Freq        uint64 // per second
	Precision   uint64 // uncertainty, in ticks
	// OffsetSeconds and Offset, in ticks, are the time of the value 0 after the origin: 1970, or
	// with Absolute the origin of the clock that all traces share.
	OffsetSeconds int64
	Offset        uint64
	Absolute      bool
}

const second = 1_000_000_000

// shift sets the offset in ticks to less than a second of them, and adds the rest to that in seconds.
func (c *Clock) shift(ticks int64) {
	if c.Freq > math.MaxInt64 { // the offset is less than a second, or the origin as well
		c.OffsetSeconds += ticks >> 63
		c.Offset = uint64(ticks) + c.Freq&uint64(ticks>>63)
		return
	}
	freq := int64(c.Freq)
	c.OffsetSeconds += ticks / freq
	rest := ticks % freq
	if rest < 0 {
		c.OffsetSeconds--
		rest += freq
	}
	c.Offset = uint64(rest)
}

// Nanoseconds returns the time of a value in nanoseconds after the origin, rounded down. ok is false
// when an int64 cannot hold it.
func (c *Clock) Nanoseconds(ticks uint64) (ns int64, ok bool) {
	const most = math.MaxInt64 / second
	if c.Freq == 0 || c.Offset >= c.Freq || c.OffsetSeconds > most || c.OffsetSeconds < -most {
		return 0, false
	}
	seconds, rest := ticks/c.Freq, ticks%c.Freq
	if rest >= c.Freq-c.Offset { // the sum may not fit in 64 bits
		seconds++
		rest -= c.Freq - c.Offset
	} else {
		rest += c.Offset
	}
	part, ok := c.duration(rest)
	if !ok || seconds > 2*most || c.OffsetSeconds+int64(seconds) > most {
		return 0, false
	}
	ns = (c.OffsetSeconds + int64(seconds)) * second
	return ns + part, ns <= math.MaxInt64-part
}

// duration returns how many nanoseconds a number of ticks is.
func (c *Clock) duration(ticks uint64) (int64, bool) {
	if c.Freq == second {
		return int64(ticks), ticks < 1<<63
	}
	hi, lo := bits.Mul64(ticks, second)
	if c.Freq == 0 || hi >= c.Freq {
		return 0, false
	}
	ns, _ := bits.Div64(hi, lo, c.Freq)
	return int64(ns), ns < 1<<63
}

// EnvEntry is one line of the environment that a trace was recorded in: a text or a number.
type EnvEntry struct {
	Name   string
	Text   string
	Number int64
	IsText bool
}

// Trace has the declarations of a directory's metadata, and its streams.
type Trace struct {
	Dir     string
	UUID    UUID
	Env     []EnvEntry
	Clocks  []*Clock
	Classes []*StreamClass
	Streams []*Stream // by name of their first file

	header *node
	slots  int
}

// Get returns an entry of the environment, nil when there is none of the name.
func (t *Trace) Get(name string) *EnvEntry {
	for i := range t.Env {
		if t.Env[i].Name == name {
			return &t.Env[i]
		}
	}
	return nil
}

func (t *Trace) clock(name string) *Clock {
	for _, c := range t.Clocks {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func (t *Trace) stream(id uint64) *StreamClass {
	for _, s := range t.Classes {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// StreamClass describes streams.
type StreamClass struct {
	ID            uint64
	PacketContext *Struct // nil for none, as the others
	EventHeader   *Struct
	EventContext  *Struct
	Events        []*EventClass

	aligned bool // AlignedStreamClass made it
	nodes   streamNodes
	events  map[uint64]*EventClass
	clock   *Clock    // of its timestamps, nil for none
	header  *node     // of its packets
	empty   sync.Pool // of *emptyPages: zeros after headers, which are of one size
}

// EventClass describes events.
type EventClass struct {
	ID       uint64
	Name     string
	Stream   *StreamClass
	LogLevel int64   // as LTTng has it; -1 for none
	URI      string  // where its model is described (model.emf.uri), "" for none
	Context  *Struct // of this event, in addition to the stream's EventContext; nil for none
	Payload  *Struct // nil for none

	context, payload *node
	err              error // why its types make no sense
}
