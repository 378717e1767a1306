package bpf

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
)

func TestMain(m *testing.M) {
	ServeGuard()
	os.Exit(m.Run())
}

// synthetic returns operands that differ from marker to marker: n arguments of every form.
func synthetic(marker, n int) []sdt.Operand {
	regs := []sdt.Reg{sdt.RAX, sdt.RCX, sdt.RDX, sdt.RBX, sdt.RSP, sdt.RBP, sdt.RSI, sdt.RDI, sdt.R8, sdt.R15}
	var ops []sdt.Operand
	for i := range n {
		k := marker*7 + i
		o := sdt.Operand{Size: 1 << (k % 4), Signed: k%2 == 0, Base: regs[k%len(regs)]}
		switch k % 5 {
		case 0:
			o.Kind, o.Value = sdt.Constant, uint64(k)
		case 1:
			o.Kind = sdt.Register
		case 2:
			o.Kind, o.Disp = sdt.Memory, int64(8*marker)
		case 3:
			o.Kind, o.Disp, o.Base = sdt.Memory, int64(marker)<<33, sdt.PC
		case 4:
			o.Kind, o.Index, o.Scale = sdt.Memory, regs[(k+3)%len(regs)], 8
		}
		ops = append(ops, o)
	}
	return ops
}

// codeFile writes a file whose every byte can be probed: the kernel looks at a file's type
// and size when it attaches, and at instructions only where a process maps them.
func codeFile(t *testing.T, size int) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "code")
	nops := make([]byte, size)
	for i := range nops {
		nops[i] = 0x90
	}
	if err := os.WriteFile(path, nops, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// HotSpot's libjvm has 531 markers; several thousand sites with as many plans need more than
// one program.
func TestTracerTakesManySites(t *testing.T) {
	peer.Root(t)
	for _, n := range []int{1, 531, 5000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			f := File{Opened: codeFile(t, 16*n+16)}
			for i := range n {
				p, errs := prog.OperandPlan(elf.EM_X86_64, synthetic(i, i%11), 0)
				for _, err := range errs {
					if err != nil {
						t.Fatal(err)
					}
				}
				f.Sites = append(f.Sites, prog.Site{Offset: uint64(16*i + 16), Index: uint32(i), Plan: p})
			}
			tr, err := NewTracer(Options{MaxString: 256, BufferSize: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tr.Add([]File{f}, n, nil); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d programs", len(tr.held.programs))
			if err := tr.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// The largest plans there can be: a record full of strings, 32 values from memory.
func TestTracerTakesLargestPlans(t *testing.T) {
	peer.Root(t)
	var strings []int
	for i := range prog.MaxStrings {
		strings = append(strings, 24*i)
	}
	var ops []sdt.Operand
	for i := range prog.MaxValues + 1 {
		ops = append(ops, sdt.Operand{Kind: sdt.Memory, Size: 8, Base: sdt.RSP, Disp: int64(8 * i)})
	}
	values, errs := prog.OperandPlan(elf.EM_X86_64, ops, 0)
	if errs[prog.MaxValues] != prog.ErrTooMany || errs[prog.MaxValues-1] != nil {
		t.Errorf("errors of the last arguments: %v, %v", errs[prog.MaxValues-1], errs[prog.MaxValues])
	}
	for _, size := range []int{24 * prog.MaxStrings, prog.MaxRecord, 24*prog.MaxStrings + 7} {
		record, err := prog.RecordPlan(size, strings, 152)
		if err != nil {
			t.Fatal(err)
		}
		for _, limit := range []int{1, 32, 33, 256, 257, prog.MaxString} {
			for _, mode := range []Mode{Multi, Events} {
				f := File{Opened: codeFile(t, 64), Sites: []prog.Site{{Offset: 8, Plan: record}, {Offset: 16, Plan: values, Index: 1}}}
				tr, err := NewTracer(Options{MaxString: limit, Mode: mode})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := tr.Add([]File{f}, 2, nil); err != nil {
					t.Fatalf("record of %d, strings of %d, %v: %v", size, limit, mode, err)
				}
				if err := tr.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
