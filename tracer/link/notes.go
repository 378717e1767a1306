package link

import (
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/schema"
	"github.com/waymark-trace/waymark/sdt"
)

// maxOperands is how many operands a note gets: libbpf refuses probes with more than 12
// (USDT_MAX_ARG_CNT). The schema has all of them.
const maxOperands = 12

// operands returns a note's argument text: where each field lies in the record that RAX
// points to. A string or slice is two operands, pointer and length; a float is its bits.
func operands(fields []event.Field) string {
	var ops []string
	for _, f := range fields {
		switch {
		case f.Kind.HasLength():
			ops = append(ops, fmt.Sprintf("8@%d(%%rax)", f.Offset), fmt.Sprintf("-8@%d(%%rax)", f.Offset+8))
		default:
			sign := ""
			if f.Kind.Signed() {
				sign = "-"
			}
			ops = append(ops, fmt.Sprintf("%s%d@%d(%%rax)", sign, f.Kind.Size(), f.Offset))
		}
	}
	return strings.Join(ops[:min(len(ops), maxOperands)], " ")
}

// notes returns the contents of .note.stapsdt: the file's own notes, then one per marker.
func (img *image) notes(doc *schema.Document, base uint64, foreign []byte) ([]byte, error) {
	out := foreign
	for _, m := range doc.Markers {
		var err error
		out, err = sdt.AppendNote(out, sdt.Note{
			Provider: m.Provider, Name: m.Name, Args: operands(m.Fields),
			Location: sdt.Addr(m.Location), Base: sdt.Addr(base), Semaphore: sdt.Addr(m.Counter),
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// foreignNotes returns the notes that were in the file before any link: those of C code.
func (img *image) foreignNotes(section []byte) ([]byte, error) {
	notes, errs := sdt.ParseNotes(section, img.elf.Class, le)
	if len(errs) > 0 {
		return nil, fmt.Errorf("%w: its own .note.stapsdt: %w", ErrLayout, errs[0])
	}
	var out []byte
	for _, n := range notes {
		if uint64(n.Location)-img.anchor.pool < img.anchor.stubs*16 {
			continue // an earlier link's
		}
		var err error
		if out, err = sdt.AppendNote(out, n); err != nil {
			return nil, fmt.Errorf("%w: its own .note.stapsdt: %w", ErrLayout, err)
		}
	}
	return out, nil
}
