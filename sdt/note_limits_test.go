package sdt

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A section cut off anywhere gives the notes before the cut, and one error unless the cut is
// between notes.
func TestTruncation(t *testing.T) {
	section := appendAll(t, testNotes...)
	ends := map[int]int{}
	var upto []byte
	for i, n := range testNotes {
		upto = appendAll(t, append(slices.Clone(testNotes[:i]), n)...)
		ends[len(upto)] = i + 1
	}
	complete, lastEnd := 0, 0
	for cut := 0; cut <= len(section); cut++ {
		if n, ok := ends[cut]; ok {
			complete, lastEnd = n, cut
		}
		notes, errs := ParseNotes(section[:cut], elf.ELFCLASS64, binary.LittleEndian)
		// The padding after a description may be missing.
		if len(notes) == complete+1 && len(errs) == 0 {
			if _, ok := ends[cut+3-(cut+3)%4]; ok {
				continue
			}
		}
		wantErrs := 1
		if cut == lastEnd {
			wantErrs = 0
		}
		if !slices.Equal(notes, testNotes[:complete]) || len(errs) != wantErrs {
			t.Errorf("cut at %#x: %d notes, want %d; errors %v", cut, len(notes), complete, errs)
		}
	}
}

func TestManyNotesAndLongNames(t *testing.T) {
	const many = 100_000
	var section []byte
	for i := range many {
		section = append(section, appendAll(t, Note{Provider: "p", Name: fmt.Sprint("n", i), Location: Addr(i)})...)
	}
	long := Note{Provider: strings.Repeat("p", maxNameBytes), Name: strings.Repeat("n", maxNameBytes), Args: strings.Repeat("8@%rax ", 9999)}
	section = append(section, appendAll(t, long)...)
	notes, errs := ParseNotes(section, elf.ELFCLASS64, binary.LittleEndian)
	if len(errs) > 0 || len(notes) != many+1 || notes[many] != long || notes[many-1].Name != "n99999" {
		t.Errorf("%d notes, errors %v", len(notes), errs)
	}
}

func TestNoteLimit(t *testing.T) {
	one := appendAll(t, Note{Provider: "p", Name: "n"})
	notes, errs := ParseNotes(bytes.Repeat(one, maxNotes+5), elf.ELFCLASS64, binary.LittleEndian)
	if len(notes) != maxNotes || len(errs) != 1 || !strings.Contains(errs[0].Error(), "more than 1048576 notes") {
		t.Errorf("%d notes, errors %v", len(notes), errs)
	}
}
