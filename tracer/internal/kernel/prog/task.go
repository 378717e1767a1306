package prog

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// Types are the offsets in bytes of the members that programs read of the kernel's structures.
type Types struct {
	taskLeader, taskPID, taskSignal, taskMemory int // struct task_struct
	signalLive                                  int // struct signal_struct
	memoryArgs                                  int // struct mm_struct
	pidLevel, pidNumbers                        int // struct pid
	numberSize, numberNr, numberNS              int // struct upid
	nsInode                                     int // struct pid_namespace

	// scheduleWork is the kernel's function that has a task run a part of a program before it returns to user
	// mode: Linux 6.18. 0 where there is none.
	scheduleWork btf.TypeID
}

// ReadTypes finds the members in the kernel's own description of its types. Programs could be relocated
// by the library, but are generated here: offsets are simpler. The error is ebpf.ErrNotSupported
// if one is missing.
func ReadTypes(spec *btf.Spec) (*Types, error) {
	k := &Types{}
	for _, want := range []struct {
		to   *int
		name string
		path []string
	}{
		{&k.taskLeader, "task_struct", []string{"group_leader"}},
		{&k.taskPID, "task_struct", []string{"thread_pid"}}, // Linux 4.19; any kernel with BTF
		{&k.taskSignal, "task_struct", []string{"signal"}},
		{&k.taskMemory, "task_struct", []string{"mm"}},
		{&k.signalLive, "signal_struct", []string{"live", "counter"}},
		{&k.memoryArgs, "mm_struct", []string{"arg_start"}},
		{&k.pidLevel, "pid", []string{"level"}},
		{&k.pidNumbers, "pid", []string{"numbers"}},
		{&k.numberNr, "upid", []string{"nr"}},
		{&k.numberNS, "upid", []string{"ns"}},
		{&k.nsInode, "pid_namespace", []string{"ns", "inum"}},
	} {
		var s *btf.Struct
		if err := spec.TypeByName(want.name, &s); err != nil {
			return nil, fmt.Errorf("struct %s: %w: %w", want.name, ebpf.ErrNotSupported, err)
		}
		at, ok := offset(s, want.path)
		if !ok {
			return nil, fmt.Errorf("struct %s has no %v: %w", want.name, want.path, ebpf.ErrNotSupported)
		}
		*want.to = at
		if want.name == "upid" {
			k.numberSize = int(s.Size)
		}
	}
	for _, name := range []string{"bpf_task_work_schedule_resume_impl", "bpf_task_work_schedule_resume"} {
		var f *btf.Func
		if spec.TypeByName(name, &f) == nil {
			k.scheduleWork, _ = spec.TypeID(f)
			break
		}
	}
	return k, nil
}

// offset returns where a member of a member … lies, in bytes. Anonymous members are looked through.
func offset(t btf.Type, path []string) (int, bool) {
	if len(path) == 0 {
		return 0, true
	}
	var members []btf.Member
	switch t := btf.UnderlyingType(t).(type) {
	case *btf.Struct:
		members = t.Members
	case *btf.Union:
		members = t.Members
	}
	for _, m := range members {
		rest := path
		switch m.Name {
		case path[0]:
			rest = path[1:]
		case "":
		default:
			continue
		}
		if at, ok := offset(m.Type, rest); ok {
			return int(m.Offset.Bytes()) + at, true
		}
	}
	return 0, false
}

// Namespace is the PID namespace that the process numbers of events count in: that of this
// process, whose /proc shows them.
type Namespace struct {
	Device, Inode uint64
	// Level is how far it is below the initial one, which sees every process.
	Level int
	// Types is nil when the kernel does not describe its types. Then processes of namespaces
	// below this one have no number, unless this is the initial one.
	Types *Types
	// Raised programs leave the lowest part of the stack to functions that they call.
	Raised bool
}

// Stack slots of what reads the kernel's structures: the last of its 512 bytes, which no plan
// and no key reaches.
const (
	stackTask   = -488 // a pointer, and what follows from it
	stackNumber = -496
	stackNS     = -504
	stackOther  = -512
)

// raise is how much higher a raised program has its slots.
const raise = 128

// slot returns where the program has one of the slots above.
func (n *Namespace) slot(at int16) int16 {
	if n.Raised {
		return at + raise
	}
	return at
}

// step replaces the pointer in a slot by the one at an offset from where it points.
func step(slot int16, offset int) asm.Instructions { return readKernel(slot, slot, offset, 8) }

// readKernel copies size bytes at an offset from where the pointer in slot from points.
// Unreadable memory becomes zero.
func readKernel(to, from int16, offset, size int) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, int32(to)),
		asm.Mov.Imm(asm.R2, int32(size)),
		asm.LoadMem(asm.R3, asm.RFP, from, asm.DWord), asm.Add.Imm(asm.R3, int32(offset)),
		asm.FnProbeReadKernel.Call(),
	}
}

// join concatenates, as slices.Concat does, also single instructions.
func join(parts ...any) (all asm.Instructions) {
	for _, p := range parts {
		switch p := p.(type) {
		case asm.Instruction:
			all = append(all, p)
		case asm.Instructions:
			all = append(all, p...)
		}
	}
	return all
}

// currentNumber leaves the number of the current process, or of its thread, in R0, as this
// process's namespace counts: 0 when it is not visible there. label makes labels unique.
func (n *Namespace) currentNumber(process bool, label string) asm.Instructions {
	if n.Level == 0 {
		ins := asm.Instructions{asm.FnGetCurrentPidTgid.Call()}
		if process {
			return append(ins, asm.RSh.Imm(asm.R0, 32))
		}
		return append(ins, asm.LSh.Imm(asm.R0, 32), asm.RSh.Imm(asm.R0, 32))
	}
	return join(asm.FnGetCurrentTask.Call(), asm.StoreMem(asm.RFP, n.slot(stackTask), asm.R0, asm.DWord),
		n.number(process, label))
}

// number does so for the task that slot stackTask points to. A task has a number in its own
// namespace and in each above: struct pid, include/linux/pid.h. (The kernel's helper,
// bpf_get_ns_current_pid_tgid, knows the one of the task's own namespace only.)
func (n *Namespace) number(process bool, label string) asm.Instructions {
	k := n.Types
	task, number, ns := n.slot(stackTask), n.slot(stackNumber), n.slot(stackNS)
	var leader, visible, none asm.Instructions
	if process {
		leader = step(task, k.taskLeader)
	}
	at := k.pidNumbers + n.Level*k.numberSize
	if n.Level > 0 {
		visible = join(
			readKernel(number, task, k.pidLevel, 4),
			asm.LoadMem(asm.R0, asm.RFP, number, asm.Word),
			asm.JLT.Imm(asm.R0, int32(n.Level), label+"_none"),
			readKernel(ns, task, at+k.numberNS, 8),
			readKernel(number, ns, k.nsInode, 4),
			asm.LoadMem(asm.R0, asm.RFP, number, asm.Word),
			asm.LoadImm(asm.R1, int64(uint32(n.Inode)), asm.DWord),
			asm.JNE.Reg(asm.R0, asm.R1, label+"_none"),
		)
		none = asm.Instructions{
			asm.Ja.Label(label + "_known"),
			asm.StoreImm(asm.RFP, number, 0, asm.Word).WithSymbol(label + "_none"),
		}
	}
	return join(leader, step(task, k.taskPID), visible,
		readKernel(number, task, at+k.numberNr, 4),
		none,
		asm.LoadMem(asm.R0, asm.RFP, number, asm.Word).WithSymbol(label+"_known"),
	)
}

// ownNumber leaves the number of the current process, or of its thread, in R0, as its own namespace
// counts, or jumps to none when that is not below the level.
func (k *Types) ownNumber(process bool, level int, none string) asm.Instructions {
	var leader asm.Instructions
	if process {
		leader = step(stackTask, k.taskLeader)
	}
	return join(
		asm.FnGetCurrentTask.Call(), asm.StoreMem(asm.RFP, stackTask, asm.R0, asm.DWord),
		leader, step(stackTask, k.taskPID),
		readKernel(stackNumber, stackTask, k.pidLevel, 4),
		asm.LoadMem(asm.R0, asm.RFP, stackNumber, asm.Word), asm.JLE.Imm(asm.R0, int32(level), none),
		asm.Mul.Imm(asm.R0, int32(k.numberSize)), asm.LoadMem(asm.R1, asm.RFP, stackTask, asm.DWord),
		asm.Add.Reg(asm.R0, asm.R1), asm.StoreMem(asm.RFP, stackTask, asm.R0, asm.DWord),
		readKernel(stackNumber, stackTask, k.pidNumbers+k.numberNr, 4),
		asm.LoadMem(asm.R0, asm.RFP, stackNumber, asm.Word),
	)
}

// Level returns the program that returns the level of the current process's PID namespace.
func (k *Types) Level() asm.Instructions {
	return join(
		asm.FnGetCurrentTask.Call(), asm.StoreMem(asm.RFP, stackTask, asm.R0, asm.DWord),
		step(stackTask, k.taskPID), readKernel(stackNumber, stackTask, k.pidLevel, 4),
		asm.LoadMem(asm.R0, asm.RFP, stackNumber, asm.Word), asm.Return())
}
