package bpf

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// Stack slots of the programs of a watch, besides those of task_linux.go. R6 is the context, R7
// the news.
const (
	stackProcess = -8  // the current process
	stackChild   = -16 // the one that was forked
)

// lookup looks a key up in the set; R0 is zero when it is not there.
func (w *Watch) lookup(key int16) asm.Instructions {
	return asm.Instructions{
		asm.LoadMapPtr(asm.R1, w.set.FD()), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, int32(key)),
		asm.FnMapLookupElem.Call(),
	}
}

// admit is the beginning of a program that is for processes of the set only. It keeps R1 and uses R6.
func (w *Watch) admit() asm.Instructions {
	return join(asm.Mov.Reg(asm.R6, asm.R1),
		w.pids.currentNumber(true, "admit"), asm.StoreMem(asm.RFP, stackProcess, asm.R0, asm.Word),
		w.lookup(stackProcess), asm.JNE.Imm(asm.R0, 0, "admitted"),
		asm.Mov.Imm(asm.R0, 0), asm.Return(),
		asm.Mov.Reg(asm.R1, asm.R6).WithSymbol("admitted"),
	)
}

// filter is admit for what counts and traces. Without Follow the kernel does it better: it
// spares other processes the breakpoint.
func (w *Watch) filter() asm.Instructions {
	if w == nil || !w.o.Follow {
		return nil
	}
	return w.admit()
}

// tracepoints are the programs and the raw tracepoints they go to, include/trace/events/sched.h.
func (w *Watch) tracepoints() []tracepoint {
	all := []tracepoint{
		{"sched_process_exec", w.executed()},
		{"sched_process_exit", w.ended()},
	}
	if w.o.Follow {
		all = append(all, tracepoint{"sched_process_fork", w.forked()})
	}
	return all
}

type tracepoint struct {
	name string
	ins  asm.Instructions
}

func (t *tracepoint) load() (*ebpf.Program, error) {
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "waymark_watch", Type: ebpf.RawTracepoint, License: "Dual MIT/GPL", Instructions: t.ins,
	})
	if err != nil {
		return nil, fmt.Errorf("loading eBPF program for %s: %w", t.name, err)
	}
	return prog, nil
}

// forked has the arguments parent, which is the current task, and child. The child has not
// run yet. A new thread of a process is a child too, and in the set already.
func (w *Watch) forked() asm.Instructions {
	return join(w.admit(),
		asm.LoadMem(asm.R1, asm.R6, 8, asm.DWord), asm.StoreMem(asm.RFP, stackTask, asm.R1, asm.DWord),
		w.pids.number(true, "child"),
		asm.StoreMem(asm.RFP, stackChild, asm.R0, asm.Word),
		asm.LoadMem(asm.R1, asm.RFP, stackProcess, asm.Word), asm.JEq.Reg(asm.R0, asm.R1, "out"),
		asm.StoreImm(asm.RFP, stackTask, 0, asm.Word),
		asm.LoadMapPtr(asm.R1, w.set.FD()), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, stackChild),
		asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, stackTask), asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(),
		asm.Mov.Imm(asm.R8, int32(Forked)), asm.JEq.Imm(asm.R0, 0, "tell"), asm.Mov.Imm(asm.R8, int32(Full)),
		w.reserve("tell", stackChild), w.submit(),
	)
}

// executed has the arguments task, the number it had before, and the program. The current
// process has its new memory, and has not run in it yet.
func (w *Watch) executed() asm.Instructions {
	return join(w.admit(),
		asm.FnGetCurrentPidTgid.Call(), asm.LSh.Imm(asm.R0, 32), asm.RSh.Imm(asm.R0, 32),
		asm.LoadMem(asm.R1, asm.R6, 8, asm.DWord), asm.LSh.Imm(asm.R1, 32), asm.RSh.Imm(asm.R1, 32),
		asm.Mov.Imm(asm.R8, int32(Executed)), asm.JEq.Reg(asm.R0, asm.R1, "tell"),
		asm.Mov.Imm(asm.R8, int32(Replaced)),
		w.reserve("tell", stackProcess), w.pause(), w.submit(),
	)
}

// ended runs for each thread that ends. The last one, after which the number of live ones is
// zero, takes the process out: do_exit in kernel/exit.c counts before it comes here, and the
// process's number is in use until later.
func (w *Watch) ended() asm.Instructions {
	k := w.pids.types
	return join(w.admit(),
		asm.FnGetCurrentTask.Call(), asm.StoreMem(asm.RFP, stackTask, asm.R0, asm.DWord),
		step(stackTask, k.taskSignal), readKernel(stackNumber, stackTask, k.signalLive, 4),
		asm.LoadMem(asm.R0, asm.RFP, stackNumber, asm.Word), asm.JNE.Imm(asm.R0, 0, "out"),
		asm.LoadMapPtr(asm.R1, w.set.FD()), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, stackProcess),
		asm.FnMapDeleteElem.Call(),
		asm.LoadMapPtr(asm.R1, w.paused.FD()), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, stackProcess),
		asm.FnMapDeleteElem.Call(),
		asm.Mov.Imm(asm.R8, int32(Ended)),
		w.reserve("tell", stackProcess), w.submit(),
	)
}

// linkers is the unit for where dynamic linkers pass when they have mapped something.
func (w *Watch) linkers(files []File) []unit {
	u := unit{name: "waymark_mapped", assemble: func(Mode, *uint64) asm.Instructions {
		return join(w.admit(), asm.Mov.Imm(asm.R8, int32(Mapped)), w.reserve("tell", stackProcess), w.pause(), w.submit())
	}}
	for i := range files {
		for _, offset := range files[i].Linker {
			u.sites = append(u.sites, placed{i, -1, spot{Offset: offset}})
		}
	}
	if w == nil || len(u.sites) == 0 {
		return nil
	}
	return []unit{u}
}

// reserve leaves in R7 room for news of kind R8 of the process in a slot. Without room nobody
// is told, and so nobody must be stopped.
func (w *Watch) reserve(label string, process int16) asm.Instructions {
	return asm.Instructions{
		asm.LoadMapPtr(asm.R1, w.ring.FD()).WithSymbol(label), asm.Mov.Imm(asm.R2, 8), asm.Mov.Imm(asm.R3, 0),
		asm.FnRingbufReserve.Call(), asm.JEq.Imm(asm.R0, 0, "out"), asm.Mov.Reg(asm.R7, asm.R0),
		asm.LoadMem(asm.R1, asm.RFP, process, asm.Word), asm.StoreMem(asm.R7, 4, asm.R1, asm.Word),
	}
}

// pause stops the current process. The signal takes effect before its next instruction.
func (w *Watch) pause() asm.Instructions {
	if !w.o.Pause {
		return nil
	}
	return join(w.pids.types.ofShell("submit", "stop"),
		asm.StoreImm(asm.RFP, stackTask, 0, asm.Word).WithSymbol("stop"),
		asm.LoadMapPtr(asm.R1, w.paused.FD()), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, stackProcess),
		asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, stackTask), asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(), asm.JNE.Imm(asm.R0, 0, "submit"),
		asm.Mov.Imm(asm.R1, int32(unix.SIGSTOP)), asm.FnSendSignal.Call(), asm.JNE.Imm(asm.R0, 0, "submit"),
		asm.LoadImm(asm.R1, pausedBit, asm.DWord), asm.Or.Reg(asm.R8, asm.R1),
	)
}

func (w *Watch) submit() asm.Instructions {
	return asm.Instructions{
		asm.StoreMem(asm.R7, 0, asm.R8, asm.Word).WithSymbol("submit"),
		asm.Mov.Reg(asm.R1, asm.R7), asm.Mov.Imm(asm.R2, 0), asm.FnRingbufSubmit.Call(),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"), asm.Return(),
	}
}
