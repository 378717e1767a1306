package prog

import (
	"encoding/binary"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// News is an event in the life of a process.
type News struct {
	Kind NewsKind
	PID  int
	Held *HeldTask // the thread waits until it is released; nil, it runs
}

// NewsKind is a kind of news.
type NewsKind uint32

const (
	Forked   NewsKind = iota + 1 // it was added, as a child
	Executed                     // it executes a program
	Replaced                     // the same, by another thread than its first one, which is no more
	Ended                        // it ended, and is out of the set
	Mapped                       // the dynamic linker has mapped or unmapped something
	Full                         // the set had no room for this child
)

// Holds reports whether the thread of such news may be held.
func (k NewsKind) Holds() bool { return k == Executed || k == Replaced || k == Mapped }

func (k NewsKind) String() string {
	names := [...]string{"nothing", "forked", "executed", "replaced", "ended", "mapped", "full"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("news %d", uint32(k))
}

// heldBit of a kind means that a thread waits.
const heldBit = 1 << 31

// News in the ring: the kind, the PID, the number of the thread that waits, and the kernel's number of it, 4
// bytes each.
const (
	newsPID    = 4
	newsThread = 8
	newsTask   = 12
	newsSize   = 16
)

// DecodeNews reads news as the kernel wrote them.
func DecodeNews(b []byte) (News, error) {
	if len(b) < newsSize {
		return News{}, fmt.Errorf("news of %d bytes", len(b))
	}
	kind := binary.NativeEndian.Uint32(b)
	n := News{Kind: NewsKind(kind &^ heldBit), PID: int(binary.NativeEndian.Uint32(b[newsPID:]))}
	if kind&heldBit != 0 {
		n.Held = &HeldTask{int(binary.NativeEndian.Uint32(b[newsThread:])), binary.NativeEndian.Uint32(b[newsTask:])}
	}
	return n, nil
}

// Watch generates the programs that keep a set of processes, and that run in processes of the set only.
type Watch struct {
	Set    int        // descriptor of the map that ProcessSet describes
	News   int        // descriptor of the ring of news
	PIDs   *Namespace // with Types, and raised
	Follow bool       // children are added
	Hold   Hold       // how threads are held for news
}

// ProcessSet returns a map of n processes, by PID.
func ProcessSet(name string, n int) *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: name, Type: ebpf.Hash, KeySize: 4, ValueSize: 4, MaxEntries: uint32(n)}
}

// Stack slots of the programs of a watch, in addition to those of task.go. R6 is the context, R7
// the news, R8 their kind.
const (
	stackProcess = -8  // the current process
	stackChild   = -16 // the one that was forked
)

// members is the beginning of a program that is for processes of the set only. It keeps R1 and uses R6.
func (w *Watch) members() asm.Instructions {
	return join(asm.Mov.Reg(asm.R6, asm.R1),
		w.PIDs.currentNumber(true, "admit"), asm.StoreMem(asm.RFP, stackProcess, asm.R0, asm.Word),
		mapArgs(w.Set, stackProcess), asm.FnMapLookupElem.Call(), asm.JNE.Imm(asm.R0, 0, "admitted"),
		asm.Mov.Imm(asm.R0, 0), asm.Return(),
		asm.Mov.Reg(asm.R1, asm.R6).WithSymbol("admitted"),
	)
}

// Admit returns the beginning of programs that count and trace. Without Follow it is empty, because
// the kernel does it better: it spares other processes the breakpoint.
func (w *Watch) Admit() asm.Instructions {
	if !w.Follow {
		return nil
	}
	return w.members()
}

// RawTracepoint is one of the kernel's, and the program for it.
type RawTracepoint struct {
	Name         string
	Instructions asm.Instructions
}

// RawTracepoints returns the programs that keep the set: include/trace/events/sched.h.
func (w *Watch) RawTracepoints() []RawTracepoint {
	all := []RawTracepoint{{"sched_process_exec", w.executed()}, {"sched_process_exit", w.ended()}}
	if w.Follow {
		all = append(all, RawTracepoint{"sched_process_fork", w.forked()})
	}
	return all
}

// forked has the arguments parent, which is the current task, and child. The child has not
// run yet. A new thread of a process is a child too, and in the set already.
func (w *Watch) forked() asm.Instructions {
	return join(w.members(),
		asm.LoadMem(asm.R1, asm.R6, 8, asm.DWord), asm.StoreMem(asm.RFP, w.PIDs.slot(stackTask), asm.R1, asm.DWord),
		w.PIDs.number(true, "child"),
		asm.StoreMem(asm.RFP, stackChild, asm.R0, asm.Word),
		asm.LoadMem(asm.R1, asm.RFP, stackProcess, asm.Word), asm.JEq.Reg(asm.R0, asm.R1, "out"),
		asm.StoreImm(asm.RFP, stackTask, 0, asm.Word),
		mapArgs(w.Set, stackChild),
		asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, stackTask), asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(),
		asm.Mov.Imm(asm.R8, int32(Forked)), asm.JEq.Imm(asm.R0, 0, "tell"), asm.Mov.Imm(asm.R8, int32(Full)),
		w.reserve("tell", stackChild), submit(nil),
	)
}

// executed has the arguments task, the number it had before, and the program. The current
// process has its new memory, and has not run in it yet.
func (w *Watch) executed() asm.Instructions {
	var schedule, functions asm.Instructions
	if w.Hold.By == HoldByWork {
		schedule, functions = w.schedule(), w.workFunctions()
	}
	var hold asm.Instructions
	if w.Hold.By != NoHold {
		hold = w.announce(schedule)
	}
	return withFunctions(join(w.members(),
		asm.FnGetCurrentPidTgid.Call(), asm.LSh.Imm(asm.R0, 32), asm.RSh.Imm(asm.R0, 32),
		asm.LoadMem(asm.R1, asm.R6, 8, asm.DWord), asm.LSh.Imm(asm.R1, 32), asm.RSh.Imm(asm.R1, 32),
		asm.Mov.Imm(asm.R8, int32(Executed)), asm.JEq.Reg(asm.R0, asm.R1, "tell"),
		asm.Mov.Imm(asm.R8, int32(Replaced)),
		w.reserve("tell", stackProcess), hold, submit(nil),
	), functions)
}

// ended runs for each thread that ends. The last one, after which the number of live ones is
// zero, takes the process out: do_exit in kernel/exit.c counts before it comes here, and the
// process's number is in use until later.
func (w *Watch) ended() asm.Instructions {
	k := w.PIDs.Types
	return join(w.members(),
		asm.FnGetCurrentTask.Call(), asm.StoreMem(asm.RFP, stackTask, asm.R0, asm.DWord),
		step(stackTask, k.taskSignal), readKernel(stackNumber, stackTask, k.signalLive, 4),
		asm.LoadMem(asm.R0, asm.RFP, stackNumber, asm.Word), asm.JNE.Imm(asm.R0, 0, "out"),
		mapArgs(w.Set, stackProcess), asm.FnMapDeleteElem.Call(),
		w.forget(),
		asm.Mov.Imm(asm.R8, int32(Ended)),
		w.reserve("tell", stackProcess), submit(nil),
	)
}

// Mapped returns the program for where dynamic linkers pass when they have mapped something. The thread waits
// in it, if at all.
func (w *Watch) Mapped(sleepable bool) asm.Instructions {
	var hold, wait, functions asm.Instructions
	if w.Hold.Mapped {
		hold, wait, functions = w.announce(nil), w.await(sleepable, "out"), w.waitFunctions(sleepable)
	}
	return withFunctions(join(w.members(), asm.Mov.Imm(asm.R8, int32(Mapped)), w.reserve("tell", stackProcess), hold, submit(wait)), functions)
}

// reserve leaves in R7 room for news of kind R8 of the process in a slot. Without room it
// leaves the program, because a thread must not wait without news of it.
func (w *Watch) reserve(label string, process int16) asm.Instructions {
	return asm.Instructions{
		asm.LoadMapPtr(asm.R1, w.News).WithSymbol(label), asm.Mov.Imm(asm.R2, newsSize), asm.Mov.Imm(asm.R3, 0),
		asm.FnRingbufReserve.Call(), asm.JEq.Imm(asm.R0, 0, "out"), asm.Mov.Reg(asm.R7, asm.R0),
		asm.LoadMem(asm.R1, asm.RFP, process, asm.Word), asm.StoreMem(asm.R7, newsPID, asm.R1, asm.Word),
		asm.StoreImm(asm.R7, newsThread, 0, asm.Word), asm.StoreImm(asm.R7, newsTask, 0, asm.Word),
	}
}

// submit passes the news on, and then waits if they are of a thread that does.
func submit(wait asm.Instructions) asm.Instructions {
	all := asm.Instructions{
		asm.StoreMem(asm.R7, 0, asm.R8, asm.Word).WithSymbol("submit"),
		asm.Mov.Reg(asm.R1, asm.R7), asm.Mov.Imm(asm.R2, 0), asm.FnRingbufSubmit.Call(),
	}
	if wait != nil {
		all = join(all, asm.RSh.Imm(asm.R8, 31), asm.JEq.Imm(asm.R8, 0, "out"), wait)
	}
	return append(all, asm.Mov.Imm(asm.R0, 0).WithSymbol("out"), asm.Return())
}
