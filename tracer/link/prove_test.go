package link

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/arch/x86/x86asm"

	"github.com/waymark-trace/waymark/internal/markerabi"
)

const (
	proveEntry = 0x1000
	proveHand  = 0x9000 // assembly lies from here on
)

// code returns bytes written as hex, with spaces and comments in between.
func codeBytes(t testing.TB, text string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func proveFunction(t testing.TB, entry uint64, text string) *function {
	f := decodeFunction(entry, codeBytes(t, text))
	if f != nil {
		f.byHand = func(addr uint64) bool { return addr >= proveHand }
	}
	return f
}

const (
	load  = "8b0500000000 "   // MOVL word(RIP), AX
	test  = "85c0 "           // TESTL AX, AX
	cmpl  = "833d0000000000 " // CMPL $0, word(RIP)
	je    = "7402 "           // over two bytes
	jne   = "7502 "
	inc   = "ffc1 " // INCL CX: keeps the carry flag
	dead  = "31c0 " // XORL AX, AX: neither register nor flags are what they were
	ret   = "c3"
	site  = load + test + je + inc
	nops2 = "6690 "
)

var far = strings.Repeat("90", 200) + dead + ret // 203 bytes

// What is rewritten, and to what, off and on.
func TestProved(t *testing.T) {
	for _, c := range []struct{ name, code, off, on string }{
		{"JE rel8", site + dead + ret,
			"eb0a 0f1f840000000000" + inc + dead + ret,
			"a80a 0f1f840000000000" + inc + dead + ret},
		{"JE rel32", load + test + "0f84c8000000" + far,
			"e9d1000000 660f1f840000000000" + far,
			"a9d1000000 660f1f840000000000" + far},
		{"JE rel32 that a short jump reaches", load + test + "0f8402000000" + inc + dead + ret,
			"eb0e 66662e0f1f840000000000 90" + inc + dead + ret,
			"a80e 66662e0f1f840000000000 90" + inc + dead + ret},
		{"JNE", load + test + jne + inc + dead + ret,
			"b807000000 0f1f440000" + inc + dead + ret,
			"e907000000 0f1f440000" + inc + dead + ret},
		{"JNE, a register of another eight", "448b0500000000 4585c0" + jne + inc + "4531c0" + ret,
			"a80c 662e0f1f840000000000" + inc + "4531c0" + ret,
			"eb0c 662e0f1f840000000000" + inc + "4531c0" + ret},
		{"JNE and CMPL", cmpl + jne + inc + dead + ret,
			"a809 0f1f8000000000" + inc + dead + ret,
			"eb09 0f1f8000000000" + inc + dead + ret},
		{"back", dead + ret + load + test + "74f3" + inc + dead + ret,
			dead + ret + "ebfb 0f1f840000000000" + inc + dead + ret,
			dead + ret + "a8fb 0f1f840000000000" + inc + dead + ret},
		{"CMPL", cmpl + je + inc + dead + ret,
			"eb09 0f1f8000000000" + inc + dead + ret,
			"a809 0f1f8000000000" + inc + dead + ret},
		{"CMPL with a wide immediate", "813d0000000000000000" + je + inc + dead + ret,
			"eb0c 662e0f1f840000000000" + inc + dead + ret,
			"a80c 662e0f1f840000000000" + inc + dead + ret},
		{"arguments in between", load + "488d11" + test + "488b5908" + je + inc + dead + ret,
			"660f1f440000 488d11 6690 488b5908 eb02" + inc + dead + ret,
			"660f1f440000 488d11 6690 488b5908 a802" + inc + dead + ret},
		{"JNE rel32 with padding", load + test + nops2 + "0f85c8000000" + far,
			"b8d3000000 66662e0f1f840000000000" + far,
			"e9d3000000 66662e0f1f840000000000" + far},
		{"a NOP before", "90" + site + dead + ret,
			"2eeb0a 0f1f840000000000" + inc + dead + ret,
			"2ea80a 0f1f840000000000" + inc + dead + ret},
		{"a NOP before, jumped behind", "7401 90" + site + dead + ret,
			"7401 90 eb0a 0f1f840000000000" + inc + dead + ret,
			"7401 90 a80a 0f1f840000000000" + inc + dead + ret},
		{"JNE and a jump", load + test + jne + "ebf4" + dead + ret,
			"ebfe eb08 660f1f440000 ebf4" + dead + ret,
			"a8fe eb08 660f1f440000 ebf4" + dead + ret},
		{"an instruction between load and test", load + "488d11" + test + "0f84c8000000" + far,
			"660f1f440000 488d11 e9cb000000 0f1f00" + far,
			"660f1f440000 488d11 a9cb000000 0f1f00" + far},
		{"another register", "448b0500000000 4585c0" + je + inc + "4531c0" + ret,
			"eb0c 662e0f1f840000000000" + inc + "4531c0" + ret,
			"a80c 662e0f1f840000000000" + inc + "4531c0" + ret},
		{"flags are read before the test", load + "0f94c2" + test + je + inc + dead + ret,
			"660f1f440000 0f94c2 eb04 6690" + inc + dead + ret,
			"660f1f440000 0f94c2 a804 6690" + inc + dead + ret},
		{"a compiled function is called", site + "e800000000 89c2" + ret,
			"eb0a 0f1f840000000000" + inc + "e800000000 89c2" + ret,
			"a80a 0f1f840000000000" + inc + "e800000000 89c2" + ret},
		{"a loop", site + "ebf2",
			"eb0a 0f1f840000000000" + inc + "ebf2",
			"a80a 0f1f840000000000" + inc + "ebf2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := proveFunction(t, proveEntry, c.code)
			first := 0
			for f.insts[first].MemBytes != 4 {
				first++
			}
			p, why := f.prove(first)
			if why != "" {
				t.Fatal(why)
			}
			for want, live := range map[string]bool{c.off: false, c.on: true} {
				edits, s, err := f.replace(&p, wordAt{live: live})
				if err != nil {
					t.Fatal(err)
				}
				got := bytes.Clone(f.text)
				for _, e := range edits {
					if !bytes.Equal(got[e.addr-proveEntry:][:len(e.old)], e.old) {
						t.Errorf("the edit at 0x%x is of other bytes", e.addr)
					}
					copy(got[e.addr-proveEntry:], e.new)
				}
				if d := cmp.Diff(hex.EncodeToString(codeBytes(t, want)), hex.EncodeToString(got)); d != "" {
					t.Errorf("live %t (-want +got):\n%s", live, d)
				}
				pair := [2]byte{s.off, s.on}
				switch pair {
				case [2]byte{markerabi.MoveNear, markerabi.JumpNear}:
				case [2]byte{markerabi.JumpShort, markerabi.TestShort}, [2]byte{markerabi.TestShort, markerabi.JumpShort},
					[2]byte{markerabi.JumpNear, markerabi.TestNear}, [2]byte{markerabi.TestNear, markerabi.JumpNear}:
				default:
					t.Errorf("a site of %x", pair)
				}
			}
		})
	}
}

// Every reason to leave a site as it is.
func TestRefused(t *testing.T) {
	const (
		entered  = "a jump leads into it"
		used     = "its value is used"
		behind   = "its value is used behind the branch"
		flags    = "its flags are used once more"
		leaves   = "its branch leaves the function"
		unknown  = "an instruction that link does not know"
		handedOn = "an assembly function may hand it on"
	)
	for _, c := range []struct{ name, code, why string }{
		{"a store", "890500000000" + test + je + inc + dead + ret, "it is not only read there"},
		{"an exchange", "870500000000" + test + je + inc + dead + ret, "not a plain load of it: XCHG"},
		{"compared with one", "833d0000000001" + je + inc + dead + ret, "not a plain load of it: CMP"},
		{"loaded into a vector", "c5f96e0500000000" + je + inc + dead + ret, unknown},
		{"LOCK", "f0" + cmpl + je + inc + dead + ret, "a locked instruction"},
		{"the function ends", load + test, "the function ends before a branch"},
		{"jump to the test", site + "74f8" + dead + ret, entered},
		{"jump to the branch", site + "74fa" + dead + ret, entered},
		{"jump into an instruction", site + "74f5" + dead + ret, entered},
		{"call into it", site + "e8f2ffffff" + dead + ret, entered},
		{"pointer into it", site + "488d05f0ffffff" + dead + ret, entered},
		{"unknown in between", load + "c5f877" + test + je + inc + dead + ret, "followed by " + unknown + " before a branch"},
		{"stack in between", load + "52" + test + je + inc + dead + ret, "followed by PUSH before a branch"},
		{"call in between", load + "e800000000" + test + je + inc + dead + ret, "followed by CALL before a branch"},
		{"another branch", load + test + "7f02" + inc + dead + ret, "followed by JG before a branch"},
		{"copied", load + "89c2" + test + je + inc + dead + ret, used},
		{"part of it copied", load + "88c2" + test + je + inc + dead + ret, used},
		{"only a byte tested", load + "84c0" + je + inc + dead + ret, used},
		{"loaded again", load + load + test + je + inc + dead + ret, used},
		{"copied behind the test", load + test + "89c2" + je + inc + dead + ret, used},
		{"the test of another load", load + "8b0d00000000 85c9" + je + inc + dead + ret, "followed by JE before a branch"},
		{"its flags in between", load + test + "0f94c2" + je + inc + dead + ret, flags},
		{"flags changed in between", load + test + inc + je + inc + dead + ret, "its flags are changed before the branch"},
		{"used when not taken", load + test + je + "89c2" + dead + ret, behind},
		{"used when taken", site + "89c2" + dead + ret, behind},
		{"used as an address", site + "8b10" + dead + ret, behind},
		{"partly overwritten", site + "b001 8901" + dead + ret, behind},
		{"used as a counter", "8b0d00000000 85c9" + je + "90 90" + "e2fe" + "31c9" + ret, behind},
		{"used by a system call", "448b0500000000 4585c0" + je + inc + "31d2 0f05 4531c0" + ret, behind},
		{"used by an old system call", site + "cd80" + dead + ret, behind},
		{"used by what hides its operands", site + "f7e1" + dead + ret, behind}, // MUL CX
		{"survives assembly", site + "e8ef7f0000 89c2" + ret, behind},
		{"flags when not taken", load + test + je + "7200" + dead + ret, flags},
		{"flags when taken", site + "0f94c2" + dead + ret, flags},
		{"flags that INC leaves", site + "ffc2 7200" + dead + ret, flags},
		{"flags behind a loop", site + "eb00 0f4ac1" + dead + ret, flags},
		{"flags of floating point", site + "dac1" + dead + ret, flags}, // FCMOVB
		{"unknown behind it", site + "c5f877" + dead + ret, flags},
		{"computed jump", site + "ffe1", "it may be used behind a computed jump"},
		{"tail call", site + "e900100000", "it may be used behind a jump to another function"},
		{"branch elsewhere behind it", load + test + je + "7370" + dead + ret, flags},
		{"branch elsewhere that reads no flag", "8b1500000000 85d2" + je + inc + "e370" + "31d2" + ret, "a branch behind it leaves the function"},
		{"its branch elsewhere", load + test + "7470" + dead + ret, leaves},
		{"the function ends behind it", load + test + "7400", leaves},
		{"runs out", site + "89ca", leaves},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := proveFunction(t, proveEntry, c.code)
			if f == nil {
				t.Fatal("not decoded")
			}
			if _, why := f.prove(0); why != c.why {
				t.Errorf("got %q, want %q", why, c.why)
			}
		})
	}
	for name, code := range map[string]string{"return": site + ret, "call": site + "e800000000" + dead + ret} {
		t.Run("assembly: "+name, func(t *testing.T) {
			if _, why := proveFunction(t, proveHand, code).prove(0); why != handedOn {
				t.Errorf("got %q, want %q", why, handedOn)
			}
		})
	}
}

// Functions in which an instruction is not known, or goes on in a way of its own, are left alone.
func TestNotDecoded(t *testing.T) {
	for name, code := range map[string]string{
		"EVEX":                   "62f17c48100500000000",
		"EVEX behind a prefix":   "6762f17c48100500000000",
		"VEX behind a prefix":    "67c5f877",
		"a VEX map that is none": "c4e770f2c0",
		"REX2":                   "d5088b0501020304",
		"a prefix and no more":   "f30f1efa",
		"16 bits to AMD: jump":   "66e90000",
		"16 bits to AMD: branch": "660f840000",
		"far return":             "cb",
		"transaction":            "c7f800000000",
		"XOP":                    "8fe978e1c0",
	} {
		if decodeFunction(proveEntry, codeBytes(t, code+"90909090")) != nil {
			t.Errorf("%s was decoded", name)
		}
	}
	if decodeFunction(proveEntry, codeBytes(t, "8b0500")) != nil {
		t.Error("half an instruction was decoded")
	}
}

// FuzzProve: whatever stands in a function, what is rewritten lies within the pattern, apart from each other,
// and is of the length of what was there; off and on it goes on where the branch did, and executes what stood in between.
func FuzzProve(f *testing.F) {
	for _, text := range []string{
		site + dead + ret, cmpl + jne + inc + dead + ret, load + "488d11" + test + "0f84c8000000" + far,
		"90" + site + dead + ret, "90" + load + test + jne + "ebf4" + dead + ret, "90" + load + test + "0f85c8000000" + far,
	} {
		f.Add(codeBytes(f, text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		fn := decodeFunction(proveEntry, text)
		if fn == nil {
			return
		}
		for i := range fn.insts {
			p, why := fn.prove(i)
			if why != "" {
				continue
			}
			for _, live := range []bool{false, true} {
				edits, s, err := fn.replace(&p, wordAt{live: live})
				if err != nil {
					continue
				}
				last, rewritten := proveEntry+uint64(p.begin()), bytes.Clone(text)
				for _, e := range edits {
					if e.addr < last || len(e.old) != len(e.new) || !bytes.Equal(e.old, text[e.addr-proveEntry:][:len(e.old)]) {
						t.Fatalf("edit at 0x%x of %x", e.addr, e.old)
					}
					last = e.addr + uint64(len(e.new))
					copy(rewritten[e.addr-proveEntry:], e.new)
				}
				if last != proveEntry+uint64(p.jump.end()) || s.off == s.on {
					t.Fatalf("%+v ends at 0x%x", s, last)
				}
				if in, ok := decode(rewritten[s.addr-proveEntry:]); !ok || !bytes.HasPrefix(s.operand[:], rewritten[s.addr-proveEntry+1:][:in.Len-1]) {
					t.Fatalf("%+v: %x", s, rewritten)
				}
				goesOn(t, fn, &p, &s, rewritten, live)
			}
		}
	})
}

// goesOn executes a rewritten pattern as far as its jump or its end.
func goesOn(t *testing.T, f *function, p *pattern, s *siteOf, text []byte, live bool) {
	begin := int(s.addr - proveEntry)
	if s.prefixed {
		begin--
	}
	at, jumped := p.begin(), false
	var executed, want []byte
	for at < p.jump.end() && !jumped {
		in, ok := decode(text[at:])
		if !ok {
			t.Fatalf("%x at %d", text, at)
		}
		rel, isJump := in.Args[0].(x86asm.Rel)
		switch {
		case isJump && in.Op != x86asm.JMP:
			t.Fatalf("%v at %d of %x", in, at, text)
		case isJump:
			at, jumped = at+int(rel), true
		case in.Op != x86asm.NOP && text[at] != 0x90 && at != begin:
			executed = append(executed, text[at:at+in.Len]...)
		}
		at += in.Len
	}
	for i := f.index[p.load.at]; &f.insts[i] != p.jump; i++ {
		if in := &f.insts[i]; in != p.load && in != p.test && in.Op != x86asm.NOP {
			want = append(want, f.text[in.at:in.end()]...)
		}
	}
	to := p.jump.end()
	if live != p.jumpsWhenOff {
		to, _ = f.targetOf(p.jump)
	}
	behind := to
	if p.behind != nil && !live {
		behind, _ = f.targetOf(p.behind)
	}
	if at != to && at != behind || !bytes.Equal(executed, want) {
		t.Fatalf("live %t: goes on at %d, want %d, having executed %x, want %x: %x, rewritten %x", live, at, to, executed, want, f.text, text)
	}
}
