package variable

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/location"
)

// parts is a program whose variables are in its data, so that no process is needed to read them.
const parts = `
struct inner { short s; union { int i; unsigned char bytes[4]; }; };
struct node {
	int number; unsigned three : 3; int five : 5; unsigned long wide : 40; signed char letter;
	struct inner in; struct inner *to; struct node *next; int row[3]; const char *name;
};
struct node last = {-2, 6, -7, 0xfedcba9876, 'z', {-3, {0x01020304}}, &last.in, 0, {1, 2, 3}, "last"};
struct node first = {7, 1, 15, 1, -1, {9, {-1}}, &last.in, &last, {10, 20, 30}, "first"};
struct node *head = &first;
long table[4] = {100, -200, 300, 400};
long *middle = &table[1];
int **twice = (int *[]){(int[]){-77}};
volatile int main_runs;
int main(void) { return main_runs + (head->number & 0) + (int)(*middle & 0) + (**twice & 0) + (last.number & 0) + (int)(table[0] & 0); }
`

// image is the data of a program, at its addresses.
type image struct {
	*elf.File
	pc uint64
}

func (m image) number(t *testing.T, address, size int64) int64 {
	t.Helper()
	for _, p := range m.Progs {
		if p.Type != elf.PT_LOAD || uint64(address) < p.Vaddr || uint64(address+size) > p.Vaddr+p.Filesz {
			continue
		}
		var b [8]byte
		if _, err := p.ReadAt(b[:size], address-int64(p.Vaddr)); err != nil {
			t.Fatal(err)
		}
		return int64(binary.LittleEndian.Uint64(b[:]))
	}
	t.Fatalf("nothing is at %#x", address)
	return 0
}

// run does what an eBPF program does with a program, for those without registers.
func (m image) run(t *testing.T, p location.Program) int64 {
	t.Helper()
	var stack []int64
	pop := func() int64 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		return v
	}
	for _, s := range p {
		switch s.Op {
		case location.Push:
			stack = append(stack, s.Arg)
		case location.Register:
			if s.Arg != location.PC {
				t.Fatalf("%v: a variable of the data needs no register", p)
			}
			stack = append(stack, int64(m.pc))
		case location.Deref:
			stack = append(stack, m.number(t, pop(), s.Arg))
		case location.Add, location.Mul, location.Shl, location.Shr, location.Sar:
			b, a := pop(), pop()
			switch s.Op {
			case location.Add:
				a += b
			case location.Mul:
				a *= b
			case location.Shl:
				a <<= b & 63
			case location.Shr:
				a = int64(uint64(a) >> (b & 63))
			case location.Sar:
				a >>= b & 63
			}
			stack = append(stack, a)
		default:
			t.Fatalf("%v: a step that no variable of the data needs", p)
		}
	}
	return pop()
}

// mainOf opens a program that a compiler made, and returns the frame of main.
func mainOf(t *testing.T, compiler, source string) (*Frame, image) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	cmd := exec.Command(peer.Need(t, compiler)[0], "-g", "-w", "-O0", "-no-pie", "-fno-pie", "-x", "c", "-o", file, "-")
	cmd.Stdin = strings.NewReader(source)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	info, err := debuginfo.Open(r, file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { info.Close(); r.Close() })
	e, err := elf.NewFile(r)
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := e.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name != "main" {
			continue
		}
		var found []*debuginfo.Scope
		if err := info.UnitsAt([]uint64{s.Value}, func(u *debuginfo.Unit, c *dwarf.Entry, at []uint64) (err error) {
			found, _, err = info.Functions(u, c, at)
			return err
		}); err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		return At(info, found[0], Point{Position: debuginfo.PositionOf(s.Value), Probe: s.Value}), image{e, s.Value}
	}
	t.Fatal("no main")
	return nil, image{}
}

// What expressions name is what C says that they are.
func TestLookup(t *testing.T) {
	for _, compiler := range []string{"gcc", "clang"} {
		fr, memory := mainOf(t, compiler, parts)
		for expr, want := range map[string]int64{
			"first.number": 7, "head->number": 7, "head.number": 7, "$head->next->number": -2, "head->next->letter": 'z', "first.letter": -1,
			"last.three": 6, "last.five": -7, "head->next->wide": 0xfedcba9876, "head->five": 15,
			"first.in.s": 9, "last.in.i": 0x01020304, "last.in.bytes[0]": 4, "head->to->bytes[3]": 1, "head -> to -> s": -3,
			"first.row[2]": 30, "head->next->row[1]": 2, "head->name[1]": 'i',
			"table[3]": 400, "middle[0]": -200, "middle[2]": 400, "*middle": -200, "**twice": -77, "*head->name": 'f',
		} {
			v := fr.Lookup(expr)
			if v.Err != nil || v.Type == nil {
				t.Errorf("%s: %s: %v", compiler, expr, v.Err)
				continue
			}
			p, err := v.Number(v.Type.Size)
			if err != nil {
				t.Errorf("%s: %s: %v", compiler, expr, err)
				continue
			}
			got, unused := memory.run(t, p), 64-8*v.Type.Size
			if got <<= unused; v.Type.Class == Signed || v.Type.Signed {
				got >>= unused
			} else {
				got = int64(uint64(got) >> unused)
			}
			if got != want {
				t.Errorf("%s: %s is %d, want %d (%v)", compiler, expr, got, want, p)
			}
			if name := strings.TrimPrefix(expr, "$"); v.Name != name {
				t.Errorf("%s: %s is called %s", compiler, expr, v.Name)
			}
		}
		for expr, want := range map[string]error{
			"none": ErrNoVariable, "head->none": ErrNoVariable, "first.in.none": ErrNoVariable,
			"table[4]": errOutside, "first.row[3]": errOutside,
			"": errExpression, "head->": errExpression, "table[": errExpression, "table[-1]": errExpression, "table[i]": errExpression,
			"head+1": errExpression, "main(head)": ErrNoVariable, "*first": errExpression, "first.number->x": ErrNoVariable,
			"head" + strings.Repeat("->next", maxParts+1): errExpression,
		} {
			if v := fr.Lookup(expr); !errors.Is(v.Err, want) {
				t.Errorf("%s: %q: %v, want %v", compiler, expr, v.Err, want)
			}
		}
		v := fr.Lookup("(void *)head")
		if p, err := v.Number(8); err != nil || v.Type.Class != Pointer || v.Type.Name != "void *" || memory.run(t, p) == 0 {
			t.Errorf("%s: a cast: %v %v", compiler, v, err)
		}
	}
}
