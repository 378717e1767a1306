package bpf

import (
	"fmt"

	"github.com/cilium/ebpf/asm"
)

// tail fills the header and submits; lost counts what found the ring full.
func (a *traceProgram) tail() {
	a.label("tail")
	a.move2(offTime, stackTime)
	a.process()
	a.emit(asm.StoreMem(asm.R7, offProcess, asm.R0, asm.DWord))
	a.own()
	a.move2(offGoroutine, stackGoroutine)
	a.emit(asm.StoreMem(asm.R7, offFailed, asm.R8, asm.DWord))
	a.emit(asm.LoadMem(asm.R1, asm.RFP, stackCookie, asm.DWord), asm.StoreMem(asm.R7, offSite, asm.R1, asm.Word))
	a.emit(asm.FnGetSmpProcessorId.Call(), asm.StoreMem(asm.R7, offCPU, asm.R0, asm.Word))
	a.emit(asm.StoreImm(asm.R7, offPad, 0, asm.Word))
	a.emit(asm.Mov.Reg(asm.R1, asm.R7), asm.Add.Imm(asm.R1, offComm), asm.Mov.Imm(asm.R2, commSize),
		asm.FnGetCurrentComm.Call())
	a.emit(asm.Mov.Reg(asm.R1, asm.R7), asm.Mov.Imm(asm.R2, 0), asm.FnRingbufSubmit.Call())
	a.emit(asm.Mov.Imm(asm.R0, 0), asm.Return())
	a.label("lost")
	a.emit(asm.StoreImm(asm.RFP, stackScratch, missedLost, asm.Word))
	a.emit(increment(a.lost, stackScratch, "out")...)
}

// Why a hit has no event: indices of the map that counts those hits.
const (
	missedLost     = iota // the ring was full
	missedFiltered        // its condition does not hold
	missedReasons
)

// process leaves process and thread in R0, as this process's namespace counts them.
func (a *traceProgram) process() {
	if a.pids.level == 0 {
		a.emit(asm.FnGetCurrentPidTgid.Call())
		return
	}
	if a.pids.types != nil {
		a.numbers++ // a program may ask twice
		a.emit(a.pids.currentNumber(true, fmt.Sprintf("process%d", a.numbers))...)
		a.emit(asm.LSh.Imm(asm.R0, 32), asm.StoreMem(asm.RFP, stackOther, asm.R0, asm.DWord))
		a.emit(a.pids.currentNumber(false, fmt.Sprintf("thread%d", a.numbers))...)
		a.emit(asm.LoadMem(asm.R1, asm.RFP, stackOther, asm.DWord), asm.Or.Reg(asm.R0, asm.R1))
		return
	}
	// struct bpf_pidns_info is the thread's number, then the process's: on a little-endian
	// machine, as the ones that programs are made for are, just what the event holds.
	a.emit(asm.LoadImm(asm.R1, int64(a.pids.device), asm.DWord), asm.LoadImm(asm.R2, int64(a.pids.inode), asm.DWord),
		asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, stackScratch), asm.Mov.Imm(asm.R4, 8),
		asm.FnGetNsCurrentPidTgid.Call(),
		asm.LoadMem(asm.R0, asm.RFP, stackScratch, asm.DWord))
}

// own stores process and thread as a namespace below this process's counts them.
func (a *traceProgram) own() {
	a.zero(asm.R7, offOwn)
	if a.ownPIDs == nil {
		return
	}
	for i, process := range []bool{false, true} {
		a.emit(a.ownPIDs.ownNumber(process, a.pids.level, "noOwn")...)
		a.emit(asm.StoreMem(asm.R7, offOwn+int16(4*i), asm.R0, asm.Word)) // of a little-endian machine
	}
	a.label("noOwn")
}

func (a *traceProgram) move2(to, from int16) { a.move(to, asm.RFP, from, asm.DWord) }

// increment adds one to the element of a per-CPU array whose index is on the stack, and
// returns from the program. The addition is atomic because the program can be preempted
// between a load and a store.
func increment(array int, index int16, out string) asm.Instructions {
	return asm.Instructions{
		asm.LoadMapPtr(asm.R1, array),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, int32(index)),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, out),
		asm.Mov.Imm(asm.R1, 1),
		asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
		asm.Mov.Imm(asm.R0, 0).WithSymbol(out),
		asm.Return(),
	}
}

// countProgram returns the program that adds one to the element of the array that the cookie says.
func (a *traceProgram) countProgram(w *Where, array int) asm.Instructions {
	a.emit(asm.Mov.Reg(asm.R6, asm.R1))
	a.emit(a.filter...)
	a.where(w, "out")
	a.emit(loadCookie(asm.R6, a.cookie)...)
	a.emit(asm.StoreMem(asm.RFP, stackScratch, asm.R0, asm.Word))
	a.emit(increment(array, stackScratch, "out")...)
	return a.ins
}
