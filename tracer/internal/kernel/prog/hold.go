package prog

import (
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// A thread is held where it has executed a program, or where its dynamic linker has mapped something, until a
// tracer has attached. What stops it is ptrace: no parent, shell or debugger sees that, and the end of the tracer
// ends it. A program cannot stop its thread in this way, only the tracer can; so the thread waits in the kernel
// until the tracer has, for some 100 µs, and returns to user mode into the stop. A thread that something else
// traces already waits in the kernel all the time.
//
// The wait is a loop, because eBPF has nothing that sleeps. It is bounded by time, and gives up the CPU where the
// kernel lets programs do that.

// HeldTask is a thread that waits until it is released.
type HeldTask struct {
	Thread int    // as this process's namespace counts
	Task   uint32 // the kernel's number, which is the key of HeldTasks
}

// HoldBy is where a thread waits that has executed a program.
type HoldBy uint8

const (
	// NoHold is nowhere: the kernel has no such place.
	NoHold HoldBy = iota
	// HoldByWork is in work that the program gives its task, before the return to user mode: Linux 6.18.
	HoldByWork
	// HoldByReturn is at the end of the system call, in the programs that Returned describes. The kernel needs
	// CONFIG_FUNCTION_ERROR_INJECTION to let them give up the CPU.
	HoldByReturn
)

// Hold is how threads are held.
type Hold struct {
	By     HoldBy
	Mapped bool // threads wait where the dynamic linker has mapped something
	Tasks  int  // descriptor of the map HeldTasks
	Work   int  // descriptor of the map HeldWork
}

// States of a thread in HeldTasks. The element of task 0, which there is not, is there once a thread has waited in
// vain: then none does until the tracer has removed it.
const (
	Waits   = 0
	Expired = 1 // it waited in vain, and runs
)

const (
	// maxWait is how long a thread waits that gives up the CPU, and maxSpin one that does not.
	maxWait = 2 * time.Second
	maxSpin = 50 * time.Millisecond
	// maxTurns bounds the loop: the kernel allows no more.
	maxTurns = 1 << 23
)

// HeldTasks returns the map of n threads that wait, by the kernel's number.
func HeldTasks(name string, n int) *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: name, Type: ebpf.Hash, KeySize: 4, ValueSize: 8, MaxEntries: uint32(n)}
}

// HeldWork returns the map of the work of n tasks. Its type is the kernel's struct bpf_task_work.
func HeldWork(name string, n int) *ebpf.MapSpec {
	word := &btf.Int{Name: "unsigned long long", Size: 8}
	work := &btf.Struct{Name: "bpf_task_work", Size: 8, Members: []btf.Member{{Name: "opaque", Type: word}}}
	return &ebpf.MapSpec{
		Name: name, Type: ebpf.Hash, KeySize: 4, ValueSize: 8, MaxEntries: uint32(n),
		Key:   &btf.Int{Name: "unsigned int", Size: 4},
		Value: &btf.Struct{Name: "waymark_work", Size: 8, Members: []btf.Member{{Name: "work", Type: work}}},
	}
}

// HasWork reports whether the kernel has what HoldByWork needs.
func (k *Types) HasWork() bool { return k.scheduleWork != 0 }

// Stack slots of a thread that waits, from the lowest up: what the loop gets a pointer to.
const (
	stackWait     = -64
	waitScratch   = 0
	waitUser      = 8 // an address in the thread's memory
	waitTask      = 16
	waitDeadline  = 24
	stackHeld     = stackWait + waitTask
	stackState    = stackWait + waitScratch
	stackUser     = stackWait + waitUser
	stackDeadline = stackWait + waitDeadline
)

// announce makes the current thread one that waits, and the news R7 those of such a thread. schedule has it wait,
// or jumps to "free".
func (w *Watch) announce(schedule asm.Instructions) asm.Instructions {
	var free asm.Instructions
	if schedule != nil {
		free = labelled("free", join(mapArgs(w.Hold.Tasks, stackHeld), asm.FnMapDeleteElem.Call()))
	}
	return join(
		// Whether the last one waited in vain.
		asm.Mov.Imm(asm.R0, 0), asm.StoreMem(asm.RFP, stackState, asm.R0, asm.DWord), asm.StoreMem(asm.RFP, stackHeld, asm.R0, asm.DWord),
		mapArgs(w.Hold.Tasks, stackHeld), asm.FnMapLookupElem.Call(), asm.JNE.Imm(asm.R0, 0, "submit"),
		currentTask(),
		mapArgs(w.Hold.Tasks, stackHeld), asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, stackState), asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(), asm.JNE.Imm(asm.R0, 0, "submit"),
		schedule,
		w.PIDs.currentNumber(false, "thread"), asm.StoreMem(asm.R7, newsThread, asm.R0, asm.Word),
		asm.LoadMem(asm.R0, asm.RFP, stackHeld, asm.Word), asm.StoreMem(asm.R7, newsTask, asm.R0, asm.Word),
		asm.LoadImm(asm.R1, heldBit, asm.DWord), asm.Or.Reg(asm.R8, asm.R1),
		asm.Ja.Label("submit"),
		free,
	)
}

// currentTask leaves the kernel's number of the current thread in its slot.
func currentTask() asm.Instructions {
	return asm.Instructions{asm.FnGetCurrentPidTgid.Call(), asm.StoreMem(asm.RFP, stackHeld, asm.R0, asm.Word)}
}

// forget removes what is kept of the current thread, the last of its process: the one that has executed its program.
func (w *Watch) forget() asm.Instructions {
	if w.Hold.By == NoHold {
		return nil
	}
	all := join(asm.FnGetCurrentPidTgid.Call(), asm.RSh.Imm(asm.R0, 32), asm.StoreMem(asm.RFP, stackHeld, asm.R0, asm.Word),
		mapArgs(w.Hold.Tasks, stackHeld), asm.FnMapDeleteElem.Call())
	if w.Hold.By == HoldByWork {
		all = join(all, mapArgs(w.Hold.Work, stackHeld), asm.FnMapDeleteElem.Call())
	}
	return all
}

// schedule has the current task run the function "held" before it returns to user mode.
func (w *Watch) schedule() asm.Instructions {
	return join(
		mapArgs(w.Hold.Work, stackHeld), asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, stackState), asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(), asm.JNE.Imm(asm.R0, 0, "free"),
		mapArgs(w.Hold.Work, stackHeld), asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, "free"),
		asm.Mov.Reg(asm.R9, asm.R0),
		asm.FnGetCurrentTaskBtf.Call(), asm.Mov.Reg(asm.R1, asm.R0), asm.Mov.Reg(asm.R2, asm.R9),
		asm.LoadMapPtr(asm.R3, w.Hold.Work), functionPointer(asm.R4, "held"), asm.Mov.Imm(asm.R5, 0),
		asm.Instruction{
			OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.Call), Src: asm.PseudoKfuncCall,
			Constant: int64(w.PIDs.Types.scheduleWork),
		},
		asm.JNE.Imm(asm.R0, 0, "free"),
	)
}

// Returned returns the program for the end of a system call that has executed a program, where the thread waits.
func (w *Watch) Returned(sleepable bool) asm.Instructions {
	return withFunctions(join(
		currentTask(),
		mapArgs(w.Hold.Tasks, stackHeld), asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, "out"),
		w.await(sleepable, "out"),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"), asm.Return(),
	), w.waitFunctions(sleepable))
}

// await has the current thread wait until it is no more in the map of those that do. after is the label of what follows.
func (w *Watch) await(sleepable bool, after string) asm.Instructions {
	k, limit := w.PIDs.Types, maxSpin
	if sleepable {
		limit = maxWait
	}
	return join(
		asm.FnKtimeGetNs.Call(), asm.LoadImm(asm.R1, int64(limit), asm.DWord), asm.Add.Reg(asm.R0, asm.R1),
		asm.StoreMem(asm.RFP, stackDeadline, asm.R0, asm.DWord),
		asm.FnGetCurrentTask.Call(), asm.StoreMem(asm.RFP, stackUser, asm.R0, asm.DWord),
		step(stackUser, k.taskMemory), step(stackUser, k.memoryArgs),
		asm.Mov.Imm(asm.R0, 0), asm.StoreMem(asm.RFP, stackHeld, asm.R0, asm.DWord), asm.StoreMem(asm.RFP, stackState, asm.R0, asm.DWord),
		currentTask(),
		asm.Mov.Imm(asm.R1, maxTurns), functionPointer(asm.R2, "turn"),
		asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, stackWait), asm.Mov.Imm(asm.R4, 0), asm.FnLoop.Call(),
		// Still there: it has waited in vain.
		mapArgs(w.Hold.Tasks, stackHeld), asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, after),
		asm.Mov.Imm(asm.R1, Expired), asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord),
		asm.StoreMem(asm.RFP, stackState, asm.R1, asm.DWord),
		asm.StoreImm(asm.RFP, stackHeld, 0, asm.Word),
		mapArgs(w.Hold.Tasks, stackHeld), asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, stackState), asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(),
	)
}

// turn is one turn of the loop: 1 ends it. Copying a byte of the thread's own memory by way of its page tables is
// where the kernel lets others run (__get_user_pages, mm/gup.c).
func (w *Watch) turn(sleepable bool) asm.Instructions {
	var yield asm.Instructions
	if sleepable {
		yield = asm.Instructions{
			asm.FnGetCurrentTaskBtf.Call(), asm.Mov.Reg(asm.R4, asm.R0),
			asm.Mov.Reg(asm.R1, asm.R6), asm.Mov.Imm(asm.R2, 1),
			asm.LoadMem(asm.R3, asm.R6, waitUser, asm.DWord), asm.Mov.Imm(asm.R5, 0),
			asm.FnCopyFromUserTask.Call(),
		}
	}
	return function("turn", 2, btf.StaticFunc, join(
		asm.Mov.Reg(asm.R6, asm.R2),
		asm.FnKtimeGetNs.Call(), asm.LoadMem(asm.R1, asm.R6, waitDeadline, asm.DWord), asm.JGT.Reg(asm.R0, asm.R1, "enough"),
		asm.LoadMapPtr(asm.R1, w.Hold.Tasks), asm.Mov.Reg(asm.R2, asm.R6), asm.Add.Imm(asm.R2, waitTask),
		asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, "enough"),
		yield,
		asm.Mov.Imm(asm.R0, 0), asm.Return(),
		asm.Mov.Imm(asm.R0, 1).WithSymbol("enough"), asm.Return(),
	))
}

// waitFunctions are those that await uses.
func (w *Watch) waitFunctions(sleepable bool) asm.Instructions { return w.turn(sleepable) }

// workFunctions are those that schedule uses: work may sleep.
func (w *Watch) workFunctions() asm.Instructions {
	return join(
		function("held", 3, btf.StaticFunc, join(
			w.await(true, "awaited"),
			asm.Mov.Imm(asm.R0, 0).WithSymbol("awaited"), asm.Return(),
		)),
		w.turn(true),
	)
}

// functionPointer loads the address of a function of the same program.
func functionPointer(to asm.Register, name string) asm.Instruction {
	ins := asm.LoadImm(to, -1, asm.DWord).WithReference(name)
	ins.Src = asm.PseudoFunc
	return ins
}

// function makes instructions a function with a number of arguments, which the kernel wants to know of functions that it calls.
func function(name string, args int, linkage btf.FuncLinkage, body asm.Instructions) asm.Instructions {
	proto := &btf.FuncProto{Return: &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}}
	for range args {
		proto.Params = append(proto.Params, btf.FuncParam{Name: "arg", Type: &btf.Pointer{Target: (*btf.Void)(nil)}})
	}
	body = append(asm.Instructions{}, body...)
	body[0] = btf.WithFuncMetadata(body[0].WithSymbol(name), &btf.Func{Name: name, Type: proto, Linkage: linkage})
	return body
}

// withFunctions adds functions to a program.
func withFunctions(program, functions asm.Instructions) asm.Instructions {
	if functions == nil {
		return program
	}
	return append(function("program", 1, btf.GlobalFunc, program), functions...)
}

// labelled puts a label on the first instruction.
func labelled(name string, body asm.Instructions) asm.Instructions {
	body[0] = body[0].WithSymbol(name)
	return body
}
