package view

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer"
)

func rowsOf(counts ...uint64) []StatRow {
	rows := make([]StatRow, len(counts))
	for i, n := range counts {
		rows[i] = StatRow{
			RowID: RowID{Marker: &tracer.Marker{Point: event.Point{Provider: "p", Name: strings.Repeat("n", i+1)}, File: &tracer.File{Path: "/srv/app"}}},
			Count: n, Delta: n / 2,
		}
	}
	return rows
}

func TestStatPlain(t *testing.T) {
	for _, tt := range []struct {
		name  string
		rows  []StatRow
		brief bool
		want  string
	}{
		{"all", rowsOf(20, 0, 12345678), false, `MARKER     COUNT       RATE
p:n           20     10.0/s
p:nn           0        0/s
p:nnn   12345678  6172839/s
12345698 hits of 3 markers in 2.00 s
`},
		{"brief", rowsOf(1, 0, 0), true, `MARKER  COUNT    RATE
p:n         1  0.50/s
1 hit of 1 marker in 2.00 s; 2 markers not hit
`},
		{"nothing", rowsOf(0), true, "no hits of 1 marker in 2.00 s\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, written := bufferOutput(t)
			v := &StatPlain{Out: out, Brief: tt.brief}
			s := &Sample{Elapsed: 2 * time.Second, Interval: time.Second, Rows: tt.rows}
			if err := v.Interval(s); err != nil {
				t.Fatal(err)
			}
			if err := v.Final(s, ByCommand); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, string(written())); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestSameNameInTwoFiles(t *testing.T) {
	rows := rowsOf(1, 2)
	rows[1].Marker = &tracer.Marker{Point: event.Point{Provider: "p", Name: "n"}, File: &tracer.File{Path: "/lib/lib\x1bp.so"}}
	want := []string{"p:n (app)", `p:n (lib\x1bp.so)`}
	if d := cmp.Diff(want, rowNames(rows)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestLiveLines(t *testing.T) {
	s := &Sample{Elapsed: 2 * time.Second, Interval: time.Second, Rows: rowsOf(20, 0, 40, 2)}
	want := []string{
		"MARKER  COUNT    RATE",
		"p:n        20  10.0/s  " + strings.Repeat("▪", 10),
		"p:nn        0     0/s",
		"p:nnn      40  20.0/s  " + strings.Repeat("▪", 20),
		"p:nnnn      2  1.00/s  ▪",
		"62 hits in 2.00 s; Ctrl-C ends it",
	}
	if d := cmp.Diff(want, liveLines(s, &StatTable{}, 80, 24)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	// A small screen has the busiest markers, in their order, and loses nothing silently.
	want = []string{
		"MARKER  COUNT    RATE",
		"p:n        20  10.0/s  " + strings.Repeat("▪", 10),
		"p:nnn      40  20.0/s  " + strings.Repeat("▪", 20),
		"2 more markers less busy; 62 hits in 2.00 s; Ctrl-C ends it",
	}
	if d := cmp.Diff(want, liveLines(s, &StatTable{}, 80, 4)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for height := range 5 {
		for width := 1; width < 30; width++ {
			for _, line := range liveLines(s, &StatTable{}, width, height) {
				if n := term.Width(line); n > width {
					t.Fatalf("width %d, height %d: %d cells: %s", width, height, n, line)
				}
			}
		}
	}
}

// The rows that are folded into "(n more)" are no marker: one that is busy still has a bar to see.
func TestLiveLinesTop(t *testing.T) {
	s := &Sample{Elapsed: 2 * time.Second, Interval: time.Second, Rows: rowsOf(40, 38, 36, 34, 32, 30, 28)}
	want := []string{
		"MARKER    COUNT    RATE",
		"p:n          40  20.0/s  " + strings.Repeat("▪", 20),
		"p:nn         38  19.0/s  " + strings.Repeat("▪", 19),
		"(5 more)    160  80.0/s",
		"238 hits in 2.00 s; Ctrl-C ends it",
	}
	if d := cmp.Diff(want, liveLines(s, &StatTable{Top: 2}, 80, 24)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// wideRows are rows of markers with names of other scripts.
func wideRows() []StatRow {
	rows := rowsOf(40, 20, 4)
	for i, name := range []string{"注文:受付開始", "쇼핑:주문_시작", "🛒:checkout_🎉"} {
		provider, name, _ := strings.Cut(name, ":")
		rows[i].Marker.Provider, rows[i].Marker.Name = provider, name
	}
	return rows
}

// Columns are aligned by the cells that text takes, and on a narrow terminal numbers remain.
func TestLiveLinesWide(t *testing.T) {
	s := &Sample{Elapsed: 2 * time.Second, Interval: time.Second, Rows: wideRows()}
	for width, want := range map[int][]string{
		80: {
			"MARKER          COUNT    RATE",
			"注文:受付開始      40  20.0/s  " + strings.Repeat("▪", 20),
			"쇼핑:주문_시작     20  10.0/s  " + strings.Repeat("▪", 10),
			"🛒:checkout_🎉      4  2.00/s  ▪▪",
			"64 hits in 2.00 s; Ctrl-C ends it",
		},
		20: {
			"MARK…  COUNT    RATE",
			"注文…     40  20.0/s",
			"쇼핑…     20  10.0/s",
			"🛒:c…      4  2.00/s",
			"64 hits in 2.00 s; …",
		},
	} {
		if d := cmp.Diff(want, liveLines(s, &StatTable{}, width, 24)); d != "" {
			t.Errorf("%d columns (-want +got):\n%s", width, d)
		}
	}
}

func TestStatLiveRedraws(t *testing.T) {
	out, written := bufferOutput(t)
	v := NewStatLive(out, StatPlain{Out: out})
	v.Size = func() (int, int) { return 80, 24 }
	s := &Sample{Elapsed: 2 * time.Second, Interval: time.Second, Rows: rowsOf(1)}
	for range 2 {
		if err := v.Interval(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Final(s, ByInterrupt); err != nil {
		t.Fatal(err)
	}
	frame := "\x1b[?7l\x1b[KMARKER  COUNT  RATE\n\x1b[Kp:n         1   0/s\n\x1b[K1 hit in 2.00 s; Ctrl-C ends it\n\x1b[J\x1b[?7h"
	want := "\r" + frame + "\r\x1b[3A" + frame + "\r\x1b[3A\x1b[J" +
		"MARKER  COUNT    RATE\np:n         1  0.50/s\n1 hit of 1 marker in 2.00 s\n"
	if d := cmp.Diff(want, string(written())); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// keyRows are rows of --by path,n: five of one marker, one of a marker without a path.
func keyRows() (StatTable, []StatRow) {
	m := &tracer.Marker{Point: event.Point{Provider: "http", Name: "request"}, File: &tracer.File{Path: "/srv/app"}}
	other := &tracer.Marker{Point: event.Point{Provider: "http", Name: "end"}, File: m.File}
	path, n := event.Field{Name: "path", Kind: event.String}, event.Field{Name: "n", Kind: event.Int}
	var rows []StatRow
	for i, text := range []string{"/", "/x\x1b", strings.Repeat("a", 64)} {
		key := &tracer.Key{Values: []event.Value{event.Text(event.String, []byte(text), len(text)), event.Number(event.Int, uint64(i))}}
		rows = append(rows, StatRow{RowID: RowID{m, key}, Fields: []event.Field{path, n}, Count: uint64(10 + i), Delta: uint64(5 * i)})
	}
	rows[2].Key.Values[0] = event.Text(event.String, rows[2].Key.Values[0].Bytes(), 100)
	rows = append(rows,
		StatRow{RowID: RowID{m, nil}, Fields: []event.Field{path, n}, Other: true, Count: 7, Delta: 7},
		StatRow{RowID: RowID{other, &tracer.Key{Values: []event.Value{event.Missing(errors.New("none")), event.Number(event.Int, 3)}}},
			Fields: []event.Field{{Name: "path"}, n}, Count: 1})
	return StatTable{By: []string{"path", "n"}}, rows
}

func TestStatByTables(t *testing.T) {
	table, rows := keyRows()
	top := table
	top.Top = 2
	a := strings.Repeat("a", 64)
	for _, tt := range []struct {
		table StatTable
		want  string
	}{
		{table, `MARKER        PATH                                                                    N  COUNT    RATE
http:request  "` + a + `"…+36  2     12  6.00/s
http:request  "/x\x1b"                                                                1     11  5.50/s
http:request  "/"                                                                     0     10  5.00/s
http:request  (other)                                                                        7  3.50/s
http:end      -                                                                       3      1  0.50/s
41 hits of 2 markers in 2.00 s; 4 keys
`},
		{top, `MARKER        PATH                                                                    N  COUNT    RATE
http:request  "` + a + `"…+36  2     12  6.00/s
http:request  "/x\x1b"                                                                1     11  5.50/s
(3 more)                                                                                    18  9.00/s
41 hits of 2 markers in 2.00 s; 4 keys
`},
	} {
		out, written := bufferOutput(t)
		v := &StatPlain{Out: out, Table: tt.table}
		if err := v.Final(&Sample{Elapsed: 2 * time.Second, Interval: time.Second, Rows: rows}, ByCommand); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.want, string(written())); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}

func TestStatIntervals(t *testing.T) {
	table, rows := keyRows()
	rows[2].Delta = 0
	table.Top = 2
	out, written := bufferOutput(t)
	v := &StatIntervals{plain: StatPlain{Out: out, Table: table}}
	s := &Sample{Elapsed: time.Second, Interval: time.Second, Rows: rows[:1]}
	for _, n := range []int{1, 2, 5} {
		s.Rows = rows[:n]
		if err := v.Interval(s); err != nil {
			t.Fatal(err)
		}
		s.Elapsed += time.Second
	}
	s.Interval, s.Elapsed = time.Second/2, 3500*time.Millisecond
	if err := v.Final(s, ByInterrupt); err != nil {
		t.Fatal(err)
	}
	want := `   TIME  MARKER  PATH  N  COUNT  RATE
1.000 s  -
2.000 s  http:request  "/x\x1b"  1      5  5.00/s
3.000 s  http:request  (other)          7  7.00/s
3.000 s  http:request  "/x\x1b"  1      5  5.00/s
3.500 s  http:request  (other)          7  14.0/s
3.500 s  http:request  "/x\x1b"  1      5  10.0/s
41 hits of 2 markers in 3.50 s; 4 keys
`
	if d := cmp.Diff(want, string(written())); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
