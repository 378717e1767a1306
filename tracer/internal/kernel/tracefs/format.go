package tracefs

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Record says where the fields of one of the kernel's own tracepoints are in what it hands to
// programs: its file "format", Documentation/trace/events.rst.
type Record struct {
	Group, Name string
	Fields      []RecordField
	Size        int // up to the end of the last field, in bytes
}

// RecordField is a field of a tracepoint.
type RecordField struct {
	Name, Type   string // as C declares it: "unsigned long", "char[16]", "__data_loc char[]"
	Offset, Size int    // bytes
	Signed       bool
}

// Located reports whether the field says where its value is: 16 bits of its offset, then 16 of its length.
func (f *RecordField) Located() bool { return strings.HasPrefix(f.Type, "__data_loc ") && f.Size == 4 }

// IsText reports whether the value is characters.
func (f *RecordField) IsText() bool {
	t := strings.TrimPrefix(strings.TrimPrefix(f.Type, "__data_loc "), "const ")
	return strings.HasPrefix(t, "char[")
}

const (
	maxRecord       = 2048 // bytes
	maxRecordFields = 64
	maxTracepoints  = 256 // that patterns select
)

// parseRecord reads a file "format". What is common to all tracepoints is left out.
func parseRecord(data []byte) (*Record, error) {
	r := &Record{}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		rest, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("field:"))
		if !ok {
			continue
		}
		f, err := parseRecordField(string(rest))
		if err != nil {
			return nil, fmt.Errorf("field %.80q: %w", rest, err)
		}
		if strings.HasPrefix(f.Name, "common_") {
			continue
		}
		if len(r.Fields) == maxRecordFields || f.Offset+f.Size > maxRecord {
			return nil, fmt.Errorf("more than %d fields, or %d bytes", maxRecordFields, maxRecord)
		}
		r.Fields = append(r.Fields, f)
		r.Size = max(r.Size, f.Offset+f.Size)
	}
	return r, nil
}

// parseRecordField reads "char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;".
func parseRecordField(line string) (f RecordField, err error) {
	parts := strings.Split(line, ";")
	declaration := strings.TrimSpace(parts[0])
	suffix := ""
	if i := strings.IndexByte(declaration, '['); i >= 0 && strings.HasSuffix(declaration, "]") && !strings.Contains(declaration[i:], " ") {
		declaration, suffix = declaration[:i], declaration[i:]
	}
	i := strings.LastIndexAny(declaration, " *")
	if i <= 0 {
		return f, fmt.Errorf("no type")
	}
	f.Name, f.Type = declaration[i+1:], strings.TrimSpace(declaration[:i+1])+suffix
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(strings.TrimSpace(part), ":")
		n, bad := strconv.ParseUint(value, 10, 16)
		switch key {
		case "offset":
			f.Offset, err = int(n), bad
		case "size":
			f.Size, err = int(n), bad
		case "signed":
			f.Signed, err = n != 0, bad
		}
		if err != nil {
			return f, fmt.Errorf("%s: %w", key, err)
		}
	}
	if f.Name == "" || f.Size == 0 && f.Offset == 0 {
		return f, fmt.Errorf("no name or no place")
	}
	return f, nil
}
