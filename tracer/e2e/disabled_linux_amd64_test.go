package e2e

import (
	"bytes"
	"debug/elf"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/test/gobuild"
)

var argTypes = map[string]string{"int": "int", "string": "string", "bytes": "[]byte", "float64": "float64", "named": "named", "text": "state", "label": "label"}

// textKinds are the argTypes that are marked as a marker.Text, with their underlying types.
var textKinds = map[string]string{"text": "int", "label": "string"}

// disabledProgram marks every arity with arguments of every kind of type, each in a function
// of its own named use_KIND_ARITY, of a marker named mark_KIND_ARITY.
func disabledProgram() []byte {
	var b bytes.Buffer
	b.WriteString("package main\n\nimport (\n\t\"os\"\n\n\t\"github.com/waymark-trace/waymark/marker\"\n)\n\ntype named int32\ntype state int\ntype label string\n\nfunc (state) String() string { return \"state\" }\nfunc (label) String() string { return \"label\" }\n")
	var calls bytes.Buffer
	for kind, typ := range argTypes {
		for n := range markerabi.MaxArity + 1 {
			argType, arg := typ, "a%d"
			if textKinds[kind] != "" {
				argType, arg = "marker.Text["+typ+"]", "marker.TextOf(a%d)"
			}
			types := strings.TrimSuffix(strings.Repeat(argType+", ", n), ", ")
			if n > 0 {
				types = "[" + types + "]"
			}
			var params, args []string
			for i := range n {
				params = append(params, fmt.Sprintf("a%d %s", i, typ))
				args = append(args, fmt.Sprintf(arg, i))
			}
			fmt.Fprintf(&b, "\nvar mark_%s_%d = marker.New%d%s(\"disabled:%s_%d\", %q)\n", kind, n, n, types, kind, n, strings.Repeat("%v ", n))
			fmt.Fprintf(&b, "\n//go:noinline\nfunc use_%s_%d(%s) { mark_%s_%d.Mark(%s) }\n", kind, n, strings.Join(params, ", "), kind, n, strings.Join(args, ", "))
			fmt.Fprintf(&calls, "\tuse_%s_%d(%s)\n", kind, n, strings.TrimSuffix(strings.Repeat("v_"+kind+", ", n), ", "))
		}
	}
	fmt.Fprintf(&b, "\nfunc main() {\n\tv_int := len(os.Args)\n\tv_string := os.Args[0]\n\tv_bytes := []byte(v_string)\n\tv_float64 := float64(v_int)\n\tv_named := named(v_int)\n\tv_text := state(v_int)\n\tv_label := label(v_string)\n%s}\n", calls.Bytes())
	return b.Bytes()
}

// While it is not armed, a Mark is a load of the armed word, a test and a branch that is not taken,
// and nothing is called before them: the slow path lies out of line (point.Never).
func TestDisabledCode(t *testing.T) {
	overlay := gobuild.Overlay(t, t.TempDir(), "testdata/disabled/main.go", string(disabledProgram()))
	for _, v := range gobuild.Versions {
		t.Run(v, func(t *testing.T) {
			path := gobuild.Build(t, gobuild.Config{Go: v, Flags: []string{overlay}}, "testdata/disabled")
			f, err := elf.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			bySym := symbolsOf(t, f)
			for kind := range argTypes {
				for n := range markerabi.MaxArity + 1 {
					name := fmt.Sprintf("%s_%d", kind, n)
					fn, ok := bySym["main.use_"+name]
					m, ok2 := bySym["main.mark_"+name]
					if !ok || !ok2 {
						t.Fatalf("no function or marker for %s", name)
					}
					if err := checkDisabled(f, fn, m.Value+markerabi.OffArmed); err != nil {
						t.Errorf("%s: %v", name, err)
					}
					if of := textKinds[kind]; of != "" {
						got, want := offPath(t, f, fn), offPath(t, f, bySym[fmt.Sprintf("main.use_%s_%d", of, n)])
						if !slices.Equal(got, want) {
							t.Errorf("%s: while off it executes\n%v\nwant, as of %s,\n%v", name, got, of, want)
						}
					}
				}
			}
		})
	}
}

// offPath returns the instructions that a function executes while its marker is off, to its return.
// Constants and the function's frame are left out: the frame has room for the call of the slow
// path, whose arguments seven Texts do not leave in registers.
func offPath(t *testing.T, f *elf.File, fn elf.Symbol) (path []string) {
	t.Helper()
	text := f.Section(".text")
	code := make([]byte, fn.Size)
	if _, err := text.ReadAt(code, int64(fn.Value-text.Addr)); err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(code); {
		inst, err := x86asm.Decode(code[at:], 64)
		if err != nil {
			t.Fatal(err)
		}
		at += inst.Len
		frame := inst.Args[0] == x86asm.RSP && (inst.Op == x86asm.SUB || inst.Op == x86asm.ADD)
		if inst.Op == x86asm.JBE { // the check of the stack
			path = nil
			continue
		}
		if inst.Op == x86asm.NOP || frame {
			continue
		}
		words := []string{inst.Op.String()}
		for _, arg := range inst.Args {
			switch arg := arg.(type) {
			case x86asm.Reg:
				words = append(words, arg.String())
			case x86asm.Mem:
				words = append(words, "memory at "+arg.Base.String())
			}
		}
		if path = append(path, strings.Join(words, " ")); inst.Op == x86asm.RET {
			return path
		}
	}
	t.Fatalf("%s has no return", fn.Name)
	return nil
}

// checkDisabled decodes a function up to the branch that follows the load of the armed word.
func checkDisabled(f *elf.File, fn elf.Symbol, armed uint64) error {
	text := f.Section(".text")
	code := make([]byte, fn.Size)
	if _, err := text.ReadAt(code, int64(fn.Value-text.Addr)); err != nil {
		return err
	}
	var loaded x86asm.Reg
	tested := false
	for at := 0; at < len(code); {
		inst, err := x86asm.Decode(code[at:], 64)
		if err != nil {
			return err
		}
		pc := fn.Value + uint64(at)
		at += inst.Len
		mem, isMem := inst.Args[1].(x86asm.Mem)
		switch {
		case inst.Op == x86asm.CALL:
			return fmt.Errorf("a call at 0x%x before the branch", pc)
		case inst.Prefix[0]&^x86asm.PrefixImplicit == x86asm.PrefixLOCK:
			return fmt.Errorf("a locked instruction at 0x%x", pc)
		case inst.Op == x86asm.MOV && isMem && mem.Base == x86asm.RIP && pc+uint64(inst.Len)+uint64(mem.Disp) == armed:
			loaded, _ = inst.Args[0].(x86asm.Reg)
		case loaded != 0 && inst.Op == x86asm.TEST && inst.Args[0] == x86asm.Arg(loaded) && inst.Args[1] == x86asm.Arg(loaded):
			tested = true
		case tested && inst.Op == x86asm.JNE:
			return nil
		case tested && inst.Op == x86asm.JE:
			return fmt.Errorf("the slow path lies in line: the branch at 0x%x is taken while off", pc)
		}
	}
	return fmt.Errorf("no load, test and branch (loaded into %v, tested %t)", loaded, tested)
}
