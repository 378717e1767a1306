package debuginfo

import (
	"debug/dwarf"
	"errors"
	"io"
	"iter"
	"math"
	"path/filepath"
)

// Row is a row of a line table, for one file of several that are asked for.
type Row struct {
	Address uint64
	Line    int32
	File    int32  // index in Lines.Names, -1 for a file that nobody asked for
	Column  uint16 // 0 when it is not known
	Stmt    bool   // a good place for a breakpoint: the beginning of a statement
	End     bool   // it is behind the last instruction of a sequence
}

// Lines is the line table of a unit that knows at least one of some files.
type Lines struct {
	Names []string // of those that were asked for, as asked
	Rows  []Row    // what Read kept, ascending within a sequence; sequences in any order

	reader *dwarf.LineReader
	files  map[int]int32             // of the unit, by its numbers: those that were asked for
	index  map[*dwarf.LineFile]int32 // the same
}

// Name returns the name of a file by the unit's number, "" for one that was not asked for.
func (t *Lines) Name(file int) string {
	if i, ok := t.files[file]; ok {
		return t.Names[i]
	}
	return ""
}

// Numbers yields the unit's number of each file that was asked for, with its name.
func (t *Lines) Numbers() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for number, i := range t.files {
			if !yield(number, t.Names[i]) {
				return
			}
		}
	}
}

// maxRows bounds the rows that are kept of one unit.
const maxRows = 32 << 20

// Lines returns the unit's line table, yet without rows, when it knows one of the named files, else nil. A name is
// taken as the compiler was given it: relative to the directory in which that ran. found is asked
// for the cleaned path of each file: as it is, relative to that directory, and in it.
func (f *File) Lines(e *dwarf.Entry, found func(path string) (name string, ok bool)) (*Lines, error) {
	sections, err := f.LineSections()
	if err != nil {
		return nil, err
	}
	r, err := LineReader(f.Data, sections, e)
	if err != nil || r == nil {
		return nil, err
	}
	dir, _ := e.Val(dwarf.AttrCompDir).(string)
	t := &Lines{reader: r, files: map[int]int32{}, index: map[*dwarf.LineFile]int32{}}
	known := map[string]int32{}
	for number, file := range r.Files() {
		if file == nil {
			continue
		}
		name, ok := found(filepath.Clean(file.Name))
		if rel, err := filepath.Rel(dir, file.Name); !ok && err == nil {
			if name, ok = found(rel); !ok {
				name, ok = found("/" + rel) // debug/dwarf joins absolute names of DWARF 5 to the directory, too
			}
		}
		if !ok && !filepath.IsAbs(file.Name) { // clang, DWARF 5: directories relative to that one
			name, ok = found(filepath.Join(dir, file.Name))
		}
		if !ok {
			continue
		}
		i, seen := known[name]
		if !seen {
			i = int32(len(t.Names))
			known[name] = i
			t.Names = append(t.Names, name)
		}
		t.index[file], t.files[number] = i, i
	}
	if len(t.Names) == 0 {
		return nil, nil
	}
	return t, nil
}

// Read keeps those rows that keep wants, instead of those that were kept before: large units have
// a million, and few are asked about.
func (t *Lines) Read(keep func(r Row) bool) error {
	t.Rows = nil
	t.reader.Reset()
	for {
		var entry dwarf.LineEntry
		if err := t.reader.Next(&entry); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		file, ok := t.index[entry.File]
		if !ok {
			file = -1
		}
		row := Row{entry.Address, int32(entry.Line), file, column(entry.Column), entry.IsStmt, entry.EndSequence}
		if !keep(row) {
			continue
		}
		if len(t.Rows) == maxRows {
			return errors.New("a line table of too many rows")
		}
		t.Rows = append(t.Rows, row)
	}
}

func column(n int) uint16 {
	if n < 0 || n > math.MaxUint16 {
		return 0
	}
	return uint16(n)
}
