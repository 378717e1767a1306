package link

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"fmt"

	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/schema"
)

// code returns what is in the file where the edits go, for relinking to put back.
func (o *optimized) code() schema.Code {
	var code schema.Code
	for _, r := range o.rewritten {
		for _, e := range r.edits {
			code = append(code, schema.Bytes{Address: e.addr, Hex: hex.EncodeToString(e.old)})
		}
	}
	return code
}

// tell notes in the schema which sites are rewritten, and in the report those that read no armed word at an address of
// their own.
func (o *optimized) tell(doc *schema.Document) {
	rewritten, reported := make(map[uint64]bool), make(map[uint64]bool)
	for _, r := range o.report {
		rewritten[r.Address], reported[r.Address] = r.Optimized, true
	}
	for i := range doc.Markers {
		sites := doc.Markers[i].Sites
		for j, s := range sites {
			sites[j].Optimized = rewritten[s.Address]
			why := ""
			switch {
			case s.Call:
				why = "it calls Mark, which tests"
			case !reported[s.Address]:
				why = "the marker's address is in a register, as for defer m.Mark(x); a call in a function literal can be optimized"
			default:
				continue
			}
			o.report = append(o.report, SiteReport{Kind: "marker", Name: doc.Markers[i].Provider + ":" + doc.Markers[i].Name,
				Address: s.Address, Function: s.Function, File: s.File, Line: s.Line, Why: why})
		}
	}
}

// restoreCode makes the image what it was before an earlier link --optimize: every link begins
// with what the compiler wrote.
func (img *image) restoreCode() error {
	if img.anchor.addr == 0 {
		return nil
	}
	t, err := img.readSections()
	if err != nil {
		return err
	}
	sites := img.at(img.anchor.addr+markerabi.OffSites, 16)
	if bytes.Equal(sites, make([]byte, len(sites))) {
		return nil
	}
	var kept schema.Code
	if i := t.index(schema.Section); i >= 0 {
		doc, err := schema.Decode(t.contents(img.data, i))
		if err != nil {
			return fmt.Errorf("%w: what an earlier link --optimize wrote: %w", ErrLayout, err)
		}
		kept = doc.Code
	}
	img.data = bytes.Clone(img.data)
	for _, c := range kept {
		old, err := hex.DecodeString(c.Hex)
		if err != nil {
			return fmt.Errorf("%w: the code at 0x%x that an earlier link kept: %w", ErrLayout, c.Address, err)
		}
		if c.Address-img.anchor.text >= img.anchor.etext-img.anchor.text {
			return fmt.Errorf("%w: an earlier link kept code of 0x%x, which lies outside the program's", ErrLayout, c.Address)
		}
		at := img.at(c.Address, uint64(len(old)))
		if at == nil {
			return fmt.Errorf("%w: an earlier link kept code of 0x%x, which is not in the file", ErrLayout, c.Address)
		}
		copy(at, old)
	}
	clear(img.at(img.anchor.addr+markerabi.OffSites, 16))
	return nil
}

// writeSites writes the rewritten code, the site table, and into the anchor where that is.
func (img *image) writeSites(out []byte, t *table, opt *optimized, o Options) ([]byte, error) {
	if opt == nil || len(opt.rewritten) == 0 {
		if t.index(markerabi.SitesSection) >= 0 { // of an earlier link: left empty, because sections keep their index
			out = t.appendData(out, markerabi.SitesSection, elf.SHT_PROGBITS, nil)
		}
		return out, nil
	}
	for _, r := range opt.rewritten {
		for _, e := range r.edits {
			off, ok := img.fileOffset(e.addr, uint64(len(e.new)))
			if !ok || !bytes.Equal(out[off:off+uint64(len(e.old))], e.old) {
				return nil, fmt.Errorf("%w: the code at 0x%x is not where it should be in the file", ErrLayout, e.addr)
			}
			copy(out[off:], e.new)
		}
	}
	flags := uint64(0)
	if o.NoWatch {
		flags |= markerabi.SitesNoWatch
	}
	table := opt.table(img.anchor.addr, flags)
	out = t.appendData(out, markerabi.SitesSection, elf.SHT_PROGBITS, table)
	off, ok := img.fileOffset(img.anchor.addr+markerabi.OffSites, 16)
	if !ok {
		return nil, fmt.Errorf("%w: the anchor at 0x%x is not in the file", ErrLayout, img.anchor.addr)
	}
	le.PutUint64(out[off:], uint64(len(out)-len(table)))
	le.PutUint64(out[off+8:], uint64(len(table)))
	return out, nil
}
