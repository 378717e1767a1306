package introspect

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Write writes the list for people to read: a table of the points, then their probes, sites
// and problems. Its layout may change; programs read the JSON of [Handler]. The error is the
// writer's; if the executable could not be read, a line of the output reports that.
func Write(w io.Writer) error {
	points, err := All()
	return write(w, points, err)
}

func write(w io.Writer, points []Point, err error) error {
	var b bytes.Buffer // one write, and one place for errors
	table(&b, "KIND\tNAME\tARGUMENTS\tARMED\tKERNEL\tPROBES\tHITS\tNESTED\tPANICS\tDECLARED", points, pointRows)
	table(&b, "\nPROBE OF\tFUNCTION", points, probeRows)
	table(&b, "\nSITE OF\tFUNCTION\tPLACE", points, siteRows)
	table(&b, "\nPROBLEM OF\tWHAT", points, problemRows)
	if len(points) == 0 {
		fmt.Fprintln(&b, "no markers, tracepoints or keys")
	}
	if err != nil {
		fmt.Fprintf(&b, "\nnot known: declarations and sites: %v\n", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// table writes the rows that there are, below a headline; nothing when there are none.
func table(w io.Writer, head string, points []Point, rows func(Point) [][]string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range points {
		for _, row := range rows(p) {
			if head != "" {
				fmt.Fprintln(t, head)
				head = ""
			}
			fmt.Fprintln(t, strings.Join(row, "\t"))
		}
	}
	t.Flush()
}

func pointRows(p Point) [][]string {
	declared := "unknown"
	switch {
	case p.Pending:
		declared = "not found yet"
	case p.Variable != "":
		declared = p.Package + "." + p.Variable
	}
	row := []string{p.Kind, plain(p.Name), arguments(p)}
	for _, n := range []uint64{uint64(p.Armed), uint64(p.Kernel), uint64(len(p.Probes)), p.Hits, p.Nested, p.Panics} {
		row = append(row, strconv.FormatUint(n, 10))
	}
	return [][]string{append(row, declared)}
}

// arguments returns "path string, attempt int", without the types that are not known.
func arguments(p Point) string {
	var list []string
	for _, f := range p.Fields {
		list = append(list, strings.TrimSpace(plain(f.Name)+" "+f.Type))
	}
	if list == nil {
		return "-"
	}
	return strings.Join(list, ", ")
}

func probeRows(p Point) (rows [][]string) {
	for _, function := range p.Probes {
		rows = append(rows, []string{plain(p.Name), function})
	}
	return rows
}

func siteRows(p Point) (rows [][]string) {
	for _, s := range p.Sites {
		place := "unknown"
		if s.File != "" {
			place = s.File + ":" + strconv.Itoa(s.Line)
		}
		rows = append(rows, []string{plain(p.Name), s.Function, plain(place)})
	}
	return rows
}

func problemRows(p Point) [][]string {
	if p.Problem == "" {
		return nil
	}
	return [][]string{{plain(p.Name), plain(p.Problem)}}
}

// plain keeps a wrong name from breaking the table.
func plain(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}
