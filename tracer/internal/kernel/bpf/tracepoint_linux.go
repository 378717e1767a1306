package bpf

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
)

// Tracepoint is one of the kernel's own, and what is copied of its record.
type Tracepoint struct {
	Group, Name string
	Size        int   // of the fixed part, in bytes
	Located     []int // where in it the places of values behind it are: __data_loc
}

// Limits of what is copied.
const (
	MaxLocated    = 8
	LocatedBytes  = 256  // of each value
	maxTracepoint = 2048 // bytes of the fixed part
)

// The event: a header, the fixed part, and LocatedBytes for each of Located.
const (
	tpTime    = 0
	tpProcess = 8 // the thread's number in the low half
	tpCPU     = 16
	tpIndex   = 20
	tpComm    = 24
	tpRecord  = 40

	tpSlotTime = -8
	tpSlotCtx  = -16
	tpSlotAddr = -24
	tpSlotLost = -32
	tpSlotPID  = -40
)

// TracepointEvent is one event. Its slices are valid until the next one is read.
type TracepointEvent struct {
	Time     uint64
	PID, TID int
	CPU      uint32
	Index    int // in the list of tracepoints
	Comm     [16]byte
	Record   []byte
	Located  [][]byte
}

// TracepointReader reads events of the kernel's tracepoints. Next is for one goroutine at a time.
type TracepointReader struct {
	points     []Tracepoint
	ring, lost *ebpf.Map
	reader     *ringbuf.Reader
	record     ringbuf.Record
	stopped    atomic.Bool

	mu     sync.Mutex // guards what follows
	links  []link.Link
	closed bool
}

// pollInterval is how often the buffer is looked into. Programs wake nobody, which would itself be events.
const pollInterval = 20 * time.Millisecond

// NewTracepointReader attaches to the tracepoints, for all processes.
func NewTracepointReader(points []Tracepoint, bufferSize int) (*TracepointReader, error) {
	t := &TracepointReader{points: points}
	if err := t.open(bufferSize); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func (t *TracepointReader) open(bufferSize int) (err error) {
	if t.ring, err = newMap(&ebpf.MapSpec{Name: "waymark_kernel", Type: ebpf.RingBuf, MaxEntries: ringSize(bufferSize)}); err != nil {
		return fmt.Errorf("creating a ring of %d bytes: %w", ringSize(bufferSize), err)
	}
	if t.lost, err = newMap(&ebpf.MapSpec{Name: "waymark_lost", Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: 1}); err != nil {
		return fmt.Errorf("creating the counter of lost events: %w", err)
	}
	if t.reader, err = ringbuf.NewReader(t.ring); err != nil {
		return fmt.Errorf("mapping the ring: %w", err)
	}
	t.reader.SetDeadline(time.Now()) // or the first read would wait for a wake-up
	pids, err := ownPIDNamespace()
	if err != nil {
		return err
	}
	for i := range t.points {
		if err := t.attach(i, pids); err != nil {
			return err
		}
	}
	return nil
}

func (t *TracepointReader) attach(i int, pids *pidNamespace) error {
	p := &t.points[i]
	if p.Size < 0 || p.Size > maxTracepoint || len(p.Located) > MaxLocated {
		return fmt.Errorf("kernel tracepoint %s:%s: its record has %d bytes and %d values behind it", p.Group, p.Name, p.Size, len(p.Located))
	}
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "waymark_kernel", Type: ebpf.TracePoint, License: "Dual MIT/GPL", Instructions: t.program(i, pids),
	})
	if err != nil {
		return fmt.Errorf("loading eBPF program for kernel tracepoint %s:%s: %w", p.Group, p.Name, err)
	}
	defer prog.Close() // the link holds it
	l, err := link.Tracepoint(p.Group, p.Name, prog, nil)
	if err != nil {
		return fmt.Errorf("attaching to kernel tracepoint %s:%s: %w", p.Group, p.Name, err)
	}
	t.links = append(t.links, l)
	return nil
}

// located is where an event has the values behind the fixed part.
func (p *Tracepoint) located() int { return tpRecord + (p.Size+7)&^7 }

func (t *TracepointReader) program(index int, pids *pidNamespace) asm.Instructions {
	p := &t.points[index]
	ins := join(
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.FnKtimeGetNs.Call(), asm.StoreMem(asm.RFP, tpSlotTime, asm.R0, asm.DWord),
		asm.LoadMapPtr(asm.R1, t.ring.FD()), asm.Mov.Imm(asm.R2, int32(p.located()+LocatedBytes*len(p.Located))), asm.Mov.Imm(asm.R3, 0),
		asm.FnRingbufReserve.Call(), asm.JEq.Imm(asm.R0, 0, "lost"), asm.Mov.Reg(asm.R7, asm.R0),
		asm.LoadMem(asm.R1, asm.RFP, tpSlotTime, asm.DWord), asm.StoreMem(asm.R7, tpTime, asm.R1, asm.DWord),
		pids.currentNumber(true, "process"), asm.StoreMem(asm.RFP, tpSlotPID, asm.R0, asm.DWord),
		pids.currentNumber(false, "thread"), asm.StoreMem(asm.R7, tpProcess, asm.R0, asm.Word),
		asm.LoadMem(asm.R1, asm.RFP, tpSlotPID, asm.DWord), asm.StoreMem(asm.R7, tpProcess+4, asm.R1, asm.Word),
		asm.FnGetSmpProcessorId.Call(), asm.StoreMem(asm.R7, tpCPU, asm.R0, asm.Word),
		asm.StoreImm(asm.R7, tpIndex, int64(index), asm.Word),
		asm.Mov.Reg(asm.R1, asm.R7), asm.Add.Imm(asm.R1, tpComm), asm.Mov.Imm(asm.R2, 16), asm.FnGetCurrentComm.Call(),
		asm.Mov.Reg(asm.R1, asm.R7), asm.Add.Imm(asm.R1, tpRecord), asm.Mov.Imm(asm.R2, int32(p.Size)), asm.Mov.Reg(asm.R3, asm.R6),
		asm.FnProbeReadKernel.Call(),
		// The record's address as a number: the verifier refuses to add what is not constant to a context.
		asm.StoreMem(asm.RFP, tpSlotCtx, asm.R6, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, tpSlotAddr), asm.Mov.Imm(asm.R2, 8),
		asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, tpSlotCtx), asm.FnProbeReadKernel.Call(),
	)
	for i, at := range p.Located {
		label := fmt.Sprintf("short%d", i)
		ins = append(ins, join(
			asm.LoadMem(asm.R3, asm.R7, int16(tpRecord+at), asm.Word),
			asm.Mov.Reg(asm.R2, asm.R3), asm.RSh.Imm(asm.R2, 16), asm.And.Imm(asm.R3, 0xffff),
			asm.JLE.Imm(asm.R2, LocatedBytes, label), asm.Mov.Imm(asm.R2, LocatedBytes),
			asm.LoadMem(asm.R4, asm.RFP, tpSlotAddr, asm.DWord).WithSymbol(label), asm.Add.Reg(asm.R3, asm.R4),
			asm.Mov.Reg(asm.R1, asm.R7), asm.Add.Imm(asm.R1, int32(p.located()+LocatedBytes*i)),
			asm.FnProbeReadKernel.Call(),
		)...)
	}
	const noWakeup = 1 // BPF_RB_NO_WAKEUP
	ins = append(ins, join(
		asm.Mov.Reg(asm.R1, asm.R7), asm.Mov.Imm(asm.R2, noWakeup), asm.FnRingbufSubmit.Call(),
		asm.Mov.Imm(asm.R0, 0), asm.Return(),
		asm.StoreImm(asm.RFP, tpSlotLost, 0, asm.Word).WithSymbol("lost"),
	)...)
	return append(ins, increment(t.lost.FD(), tpSlotLost, "out")...)
}

// Next reads the next event into e. It returns io.EOF after Stop when nothing is left, and the context's error
// within a moment of its end.
func (t *TracepointReader) Next(ctx context.Context, e *TracepointEvent) error {
	for {
		stopped := t.stopped.Load()
		err := t.reader.ReadInto(&t.record)
		switch {
		case err == nil:
			return t.decode(e, t.record.RawSample)
		case !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, ringbuf.ErrFlushed):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case stopped:
			return io.EOF
		}
		t.reader.SetDeadline(time.Now().Add(pollInterval))
	}
}

func (t *TracepointReader) decode(e *TracepointEvent, b []byte) error {
	if len(b) < tpRecord {
		return fmt.Errorf("event of %d bytes", len(b))
	}
	order := binary.NativeEndian
	e.Index = int(order.Uint32(b[tpIndex:]))
	if e.Index >= len(t.points) {
		return fmt.Errorf("event of kernel tracepoint %d, of which there are %d", e.Index, len(t.points))
	}
	p := &t.points[e.Index]
	if len(b) < p.located()+LocatedBytes*len(p.Located) {
		return fmt.Errorf("event of %d bytes of kernel tracepoint %s:%s", len(b), p.Group, p.Name)
	}
	e.Time, e.CPU = order.Uint64(b[tpTime:]), order.Uint32(b[tpCPU:])
	e.TID, e.PID = int(int32(order.Uint32(b[tpProcess:]))), int(int32(order.Uint32(b[tpProcess+4:])))
	copy(e.Comm[:], b[tpComm:])
	e.Record, e.Located = b[tpRecord:tpRecord+p.Size], e.Located[:0]
	for i, at := range p.Located {
		from := p.located() + LocatedBytes*i
		length := int(order.Uint32(e.Record[at:]) >> 16)
		e.Located = append(e.Located, b[from:from+min(length, LocatedBytes)])
	}
	return nil
}

// LostByCPU returns how many events of each CPU found the ring full.
func (t *TracepointReader) LostByCPU() ([]uint64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, nil
	}
	var lost []uint64
	_, err := sum(t.lost, 0, &lost)
	return lost, err
}

// Stop detaches; Next returns what is left and then io.EOF.
func (t *TracepointReader) Stop() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.detach()
}

func (t *TracepointReader) detach() error {
	err := detach(t.links)
	t.links = nil
	t.stopped.Store(true)
	return err
}

// Close detaches and frees everything. Further calls do nothing.
func (t *TracepointReader) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	err := t.detach()
	if t.reader != nil {
		err = errors.Join(err, t.reader.Close())
	}
	return errors.Join(err, t.ring.Close(), t.lost.Close()) // nil has nothing to close
}
