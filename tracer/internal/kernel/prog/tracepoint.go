package prog

import (
	"encoding/binary"
	"fmt"

	"github.com/cilium/ebpf/asm"
)

// Tracepoint is one of the kernel's own, and what is copied of its record.
type Tracepoint struct {
	Group, Name string
	Size        int   // of the fixed part, in bytes
	Located     []int // offsets in it of the locations of values after it: __data_loc
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

// located returns the offset in an event of the values after the fixed part.
func (p *Tracepoint) located() int { return tpRecord + (p.Size+7)&^7 }

// Program returns the program that writes events with an index into a ring, and counts in the one counter
// of lost those that find it full. ring and lost are descriptors.
func (p *Tracepoint) Program(index, ring, lost int, pids *Namespace) (asm.Instructions, error) {
	if p.Size < 0 || p.Size > maxTracepoint || len(p.Located) > MaxLocated {
		return nil, fmt.Errorf("kernel tracepoint %s:%s: its record has %d bytes and %d values after it", p.Group, p.Name, p.Size, len(p.Located))
	}
	ins := join(
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.FnKtimeGetNs.Call(), asm.StoreMem(asm.RFP, tpSlotTime, asm.R0, asm.DWord),
		asm.LoadMapPtr(asm.R1, ring), asm.Mov.Imm(asm.R2, int32(p.located()+LocatedBytes*len(p.Located))), asm.Mov.Imm(asm.R3, 0),
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
	return append(ins, increment(lost, tpSlotLost, "out")...), nil
}

// Decode reads an event of some tracepoints. Every byte is taken to be arbitrary.
func (e *TracepointEvent) Decode(points []Tracepoint, b []byte) error {
	if len(b) < tpRecord {
		return fmt.Errorf("event of %d bytes", len(b))
	}
	order := binary.NativeEndian
	e.Index = int(order.Uint32(b[tpIndex:]))
	if e.Index >= len(points) {
		return fmt.Errorf("event of kernel tracepoint %d, of which there are %d", e.Index, len(points))
	}
	p := &points[e.Index]
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
