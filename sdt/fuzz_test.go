package sdt

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/elffile"
)

func FuzzParseNotes(f *testing.F) {
	for _, n := range []Note{
		{Provider: "p", Name: "n", Location: 0x1000, Base: 0x2000, Semaphore: 0x3000, Args: "-4@%eax 8@$1"},
		{Provider: "provider", Name: "name"},
	} {
		section, err := AppendNote(nil, n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(section, false, false)
		f.Add(append(section, section...), true, true)
	}
	f.Fuzz(func(t *testing.T, section []byte, narrow, big bool) {
		class, order := elf.ELFCLASS64, binary.ByteOrder(binary.LittleEndian)
		if narrow {
			class = elf.ELFCLASS32
		}
		if big {
			order = binary.BigEndian
		}
		notes, errs := ParseNotes(section, class, order)
		if most := len(section)/12 + 1; len(notes)+len(errs) > most {
			t.Fatalf("%d notes and %d errors of %d bytes", len(notes), len(errs), len(section))
		}
		// A note that was read can be written, and reads the same.
		var again []byte
		for _, n := range notes {
			var err error
			if again, err = AppendNote(again, n); err != nil {
				t.Fatal(err)
			}
		}
		back, errs := ParseNotes(again, elf.ELFCLASS64, binary.LittleEndian)
		if len(errs) > 0 || len(back) != len(notes) {
			t.Fatalf("%d of %d notes read again, errors %v", len(back), len(notes), errs)
		}
		for i := range back {
			if back[i] != notes[i] {
				t.Fatalf("note %d: got %+v, want %+v", i, back[i], notes[i])
			}
		}
	})
}

func FuzzParseOperands(f *testing.F) {
	for _, test := range x86Tests {
		f.Add(test.text)
	}
	for _, test := range arm64Tests {
		f.Add(test.text)
	}
	data, err := os.ReadFile("testdata/operands.tsv")
	if err != nil {
		f.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		f.Add(strings.Split(line, "\t")[3])
	}
	f.Add("8@%rax 8f@.LC1(%rip) -4@%fs:(%rdx) 16f@(%rsp) 1@%ah 8@( %rax, %rbx, 8 ) 4@$-0x80 %cl 8@[x0, w1, sxtw 3] 5")
	f.Fuzz(func(t *testing.T, args string) {
		for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_AARCH64, elf.EM_S390} {
			ops := ParseOperands(machine, args)
			if len(ops) > maxSiteOperands+1 {
				t.Fatalf("%d operands", len(ops))
			}
			rest := args
			for _, o := range ops {
				checkOperand(t, o)
				at := strings.Index(rest, o.Text)
				if at < 0 || o.Text == "" || strings.Trim(rest[:at], blanks) != "" {
					t.Fatalf("operand %q is not what %q begins with", o.Text, rest)
				}
				rest = rest[at+len(o.Text):]
			}
		}
	})
}

// checkOperand checks the invariants of every operand.
func checkOperand(t *testing.T, o Operand) {
	t.Helper()
	if o.String() == "" || o.TypeName() == "" {
		t.Fatalf("%+v has no text", o)
	}
	if o.Kind == Unreadable {
		if o.Err == nil || len(o.Err.Error()) > 1000 {
			t.Fatalf("%+v: error %v", o, o.Err)
		}
		return
	}
	sizeOK := bits.OnesCount(uint(o.Size)) == 1 && o.Size <= 8 && (!o.Float || o.Size >= 4)
	kindOK := false
	switch o.Kind {
	case Constant:
		kindOK = o.Base == NoReg && o.Index == NoReg
		if o.Size < 8 && !o.Signed {
			kindOK = kindOK && o.Value>>(8*o.Size) == 0
		}
	case Register:
		kindOK = o.Base != NoReg && o.Index == NoReg && (o.Shift == 0 || o.Size == 1)
	case Memory:
		kindOK = (o.Base != NoReg || o.Index != NoReg) && (o.Index == NoReg) == (o.Scale == 0) &&
			(o.Extend == Whole || o.Index != NoReg && o.Extend <= SignExtend)
	}
	if o.Err != nil || !sizeOK || !kindOK {
		t.Fatalf("inconsistent %+v", o)
	}
}

func FuzzRead(f *testing.F) {
	seeds, err := filepath.Glob("testdata/elf/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range seeds {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add(newELF().bytes(f))
	full := newELF(Note{Provider: "p", Name: "n", Location: testCode, Args: "8@one(%rip) 4@tab(,%rax,4) 8f@.LC1(%rip)"})
	full.kind, full.link = elf.ET_EXEC, []byte("p.debug\x00\x01\x02\x03\x04")
	full.symbols = []testSymbol{{"one", testData, elf.STT_OBJECT}, {"tab", testData, elf.STT_OBJECT}, {"tab", testData + 8, elf.STT_OBJECT}}
	full.dynamic = full.symbols[:1]
	f.Add(full.bytes(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		im, err := elffile.FromBytes(data)
		if err != nil {
			t.Fatal(err)
		}
		if name, _ := im.DebugLink(); len(name) > elffile.MaxDebugLink || strings.ContainsAny(name, "/\x00") || name == ".." {
			t.Fatalf("debug link %q", name)
		}
		counters := map[Addr]Offset{}
		for _, s := range file.Sites {
			if s.Provider == "" || s.Name == "" || s.CounterOffset%2 != 0 {
				t.Fatalf("site %+v", s)
			}
			if c, ok := counters[s.Address]; ok && c != s.CounterOffset {
				t.Fatalf("two counters at %#x", s.Address)
			}
			counters[s.Address] = s.CounterOffset
			for _, o := range s.Operands {
				checkOperand(t, o)
			}
		}
	})
}
