package tracefs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const schedExec = `name: sched_process_exec
ID: 366
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;

	field:__data_loc char[] filename;	offset:8;	size:4;	signed:0;
	field:pid_t pid;	offset:12;	size:4;	signed:1;
	field:char comm[16];	offset:16;	size:16;	signed:0;
	field:const char * name;	offset:32;	size:8;	signed:0;
	field:unsigned long args[6];	offset:40;	size:48;	signed:0;

print fmt: "filename=%s", __get_str(filename)
`

func TestParseRecord(t *testing.T) {
	got, err := parseRecord([]byte(schedExec))
	if err != nil {
		t.Fatal(err)
	}
	want := &Record{Size: 88, Fields: []RecordField{
		{"filename", "__data_loc char[]", 8, 4, false},
		{"pid", "pid_t", 12, 4, true},
		{"comm", "char[16]", 16, 16, false},
		{"name", "const char *", 32, 8, false},
		{"args", "unsigned long[6]", 40, 48, false},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if f := &got.Fields[0]; !f.Located() || !f.IsText() || got.Fields[4].IsText() || !got.Fields[2].IsText() {
		t.Error("what is text, and what is elsewhere, is not told")
	}
}

func FuzzParseRecord(f *testing.F) {
	f.Add([]byte(schedExec))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseRecord(data)
		if err != nil {
			return
		}
		for _, x := range r.Fields {
			if x.Offset < 0 || x.Size < 0 || x.Offset+x.Size > r.Size || r.Size > maxRecord {
				t.Errorf("field %+v of a record of %d bytes", x, r.Size)
			}
		}
	})
}
