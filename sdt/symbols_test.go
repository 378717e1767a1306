package sdt

import (
	"bytes"
	"debug/elf"
	"fmt"
	"strings"
	"testing"
)

func TestSymbols(t *testing.T) {
	obj, tls := elf.STT_OBJECT, elf.STT_TLS
	full := []testSymbol{{"one", 0x2010, obj}, {"ti", 0x2020, obj}, {"ti", 0x2030, obj}, {"same", 0x2040, obj}, {"same", 0x2040, elf.STT_NOTYPE},
		{"tls", 8, tls}, {"copied@GLIBC_2.2.5", 0x2050, obj}, {"high", 1<<64 - 16, obj}, {"onetwo", 0x2060, obj}}
	dynamic := []testSymbol{{"dyn", 0x2070, obj}, {"one", 0x2999, obj}}
	mem := func(symbol string, disp int64) Operand {
		return Operand{Kind: Memory, Size: 8, Base: PC, Disp: disp, Symbol: symbol}
	}
	const site = testCode + 4
	tests := []struct {
		args     string
		stripped bool
		want     Operand
		fail     string
	}{
		{"8@one(%rip)", false, mem("one", 0x2010-site), ""},
		{"8@24+one(%rip)", false, mem("one", 0x2010-site+24), ""},
		{"8@one-2(%rip)", false, mem("one", 0x2010-site-2), ""},
		{"8@same(%rip)", false, mem("same", 0x2040-site), ""},
		{"8@copied(%rip)", false, mem("copied", 0x2050-site), ""},
		{"8@high(%rip)", false, mem("high", -16-site), ""},
		{"8@dyn(%rip)", false, mem("dyn", 0x2070-site), ""},
		{"8@dyn(%rip)", true, mem("dyn", 0x2070-site), ""},
		{"8@one(%rip)", true, mem("one", 0x2999-site), ""},
		{"8@ti(%rip)", false, Operand{}, "symbol ti is defined at 2 addresses"},
		{"8@NBuffers(%rip)", true, Operand{}, "no symbol NBuffers: the file is stripped"},
		{"8@NBuffers(%rip)", false, Operand{}, "no symbol NBuffers"},
		{"8f@.LC1(%rip)", false, Operand{}, ".LC1 is a label of the compiler's, which no symbol table has"},
		{"8f@.LC1(%rip)", true, Operand{}, ".LC1 is a label of the compiler's, which no symbol table has"},
		{"8@on(%rip)", false, Operand{}, "no symbol on"},
		{"8@tls(%rip)", false, Operand{}, "no symbol tls"},
		{"8@one(,%rax,8)", false, Operand{}, "without a fixed one"},
	}
	for _, test := range tests {
		e := newELF(Note{Provider: "p", Name: "n", Location: site, Args: "4@%eax " + test.args + " 4@$1"})
		e.dynamic = dynamic
		if !test.stripped {
			e.symbols = full
		}
		f := e.read(t)
		if len(f.Sites) != 1 || len(f.Sites[0].Operands) != 3 || len(f.Problems) > 0 {
			t.Fatalf("%s: %+v", test.args, f)
		}
		ops := f.Sites[0].Operands
		if ops[0].Kind != Register || ops[2].Kind != Constant {
			t.Errorf("%s: the others became %v", test.args, ops)
		}
		if got := ops[1]; test.fail != "" {
			want := fmt.Sprintf("operand %q: %s", test.args, test.fail)
			if got.Kind != Unreadable || got.Size != 8 || !strings.HasPrefix(got.Err.Error(), "operand") ||
				got.Err.Error() != want && !strings.Contains(test.fail, "fixed") {
				t.Errorf("%s: got %v, want %s", test.args, got.Err, want)
			}
			continue
		}
		test.want.Text = test.args
		if ops[1] != test.want {
			t.Errorf("%s:\n got %+v\nwant %+v", test.args, ops[1], test.want)
		}
	}

	long := newELF(Note{Provider: "p", Name: "n", Location: site, Args: strings.Repeat("l", maxSymbolName+1) + "(%rip)"})
	if got := long.read(t).Sites[0].Operands[0]; got.Kind != Unreadable || !strings.Contains(got.Err.Error(), "more than 4096") {
		t.Errorf("long name: got %v", got.Err)
	}

	e := newELF(Note{Provider: "p", Name: "n", Location: site, Args: "8@8+one(,%rax,8)"})
	e.kind, e.symbols = elf.ET_EXEC, full
	want := Operand{Text: "8@8+one(,%rax,8)", Kind: Memory, Size: 8, Index: RAX, Scale: 8, Disp: 0x2018, Symbol: "one"}
	if got := e.read(t).Sites[0].Operands[0]; got != want {
		t.Errorf("absolute: got %+v, want %+v", got, want)
	}
}

// Many addresses of one name are counted no further; a symbol table without strings is an error.
func TestOddSymbolTables(t *testing.T) {
	e := newELF(Note{Provider: "p", Name: "n", Location: testCode, Args: "8@s(%rip)"})
	for i := range 50 {
		e.symbols = append(e.symbols, testSymbol{"s", uint64(i), elf.STT_OBJECT})
	}
	if got := e.read(t).Sites[0].Operands[0]; got.Err == nil || !strings.Contains(got.Err.Error(), "at 16 addresses or more") {
		t.Errorf("got %v", got.Err)
	}
	data := e.bytes(t)
	shoff := testOrder.Uint64(data[40:])
	testOrder.PutUint32(data[shoff+2*64+40:], 0) // .symtab's sh_link
	f, err := Read(bytes.NewReader(data))
	if err != nil || !strings.Contains(fmt.Sprint(f.Sites[0].Operands[0].Err), "no string table") {
		t.Errorf("got %+v, %v", f, err)
	}
}
