package sdt_test

import (
	"debug/elf"
	"encoding/binary"
	"fmt"

	"github.com/waymark-trace/waymark/sdt"
)

// Example lists the probes of a program: one line a site, and its arguments.
func Example() {
	f, err := sdt.Open("testdata/elf/exec64")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, problem := range f.Problems {
		fmt.Println("left out:", problem)
	}
	for _, s := range f.Sites {
		fmt.Printf("%s:%s at %#x, reference counter at %#x\n", s.Provider, s.Name, uint64(s.Offset), uint64(s.CounterOffset))
		for i, o := range s.Operands {
			fmt.Printf("  arg%d %v\n", i+1, o)
		}
	}
	// Output:
	// tiny:two at 0x15f, reference counter at 0x1c8
	//   arg1 int64 [rdx+rdi*8]
	//   arg2 int8 rsi
	//   arg3 float64 rax
	//   arg4 int32 -5
	// tiny:one at 0x170, reference counter at 0x1ca
	//   arg1 int32 [pc+4180 counter]
	//   arg2 uint32 42
}

// An operand that cannot be read costs its own argument only.
func ExampleParseOperands() {
	for _, o := range sdt.ParseOperands(elf.EM_X86_64, "-4@%edi 8@16(%rsp,%rax,8) 8f@%rax -4@$-5 8@(%nonsense)") {
		switch o.Kind {
		case sdt.Constant:
			fmt.Println(o.TypeName(), int64(o.Value))
		case sdt.Register:
			fmt.Println(o.TypeName(), "in", o.Base)
		case sdt.Memory:
			fmt.Println(o.TypeName(), "at", o.Base, o.Index, o.Scale, o.Disp)
		case sdt.Unreadable:
			fmt.Println(o.Text, "cannot be read")
		}
	}
	// Output:
	// int32 in rdi
	// uint64 at rsp rax 8 16
	// float64 in rax
	// int32 -5
	// 8@(%nonsense) cannot be read
}

// A note written and read again.
func ExampleAppendNote() {
	section, err := sdt.AppendNote(nil, sdt.Note{
		Provider: "http", Name: "request_start", Location: 0x401000, Semaphore: 0x404010, Args: "-4@%edi 8@%rsi",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	notes, problems := sdt.ParseNotes(section, elf.ELFCLASS64, binary.LittleEndian)
	for _, n := range notes {
		fmt.Printf("%s:%s at %#x: %s\n", n.Provider, n.Name, uint64(n.Location), n.Args)
	}
	fmt.Println(len(problems), "problems")
	// Output:
	// http:request_start at 0x401000: -4@%edi 8@%rsi
	// 0 problems
}
