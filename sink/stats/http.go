package stats

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/sink"
)

// ServeHTTP shows the snapshot: as a table, or as JSON with ?format=json or when the request
// accepts application/json. It changes nothing. The numbers reveal the program's activity: serve
// them to its operators only, as with net/http/pprof.
func (s *Stats) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Vary", "Accept")
	w.Header().Set("X-Content-Type-Options", "nosniff") // texts are the program's, and may look like HTML
	format := r.URL.Query().Get("format")
	if format == "" && strings.Contains(r.Header.Get("Accept"), "application/json") {
		format = "json"
	}
	switch format {
	case "json":
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, s.String()+"\n")
	case "", "text":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		s.Snapshot().WriteText(w)
	default:
		http.Error(w, "format is text or json", http.StatusBadRequest)
	}
}

// barWidth is the length of the longest bar of a histogram, in characters.
const barWidth = 40

// WriteText writes the snapshot as a table for people. Programs read the JSON: the table may change.
func (s Snapshot) WriteText(w io.Writer) error {
	var b strings.Builder
	width := len("MARKER")
	for _, m := range s.Markers {
		width = max(width, len(m.Name))
	}
	fmt.Fprintf(&b, "%-*s  %12s  %12s\n", width, "MARKER", "COUNT", "RATE")
	for _, m := range s.Markers {
		fmt.Fprintf(&b, "%-*s  %12d  %10.1f/s\n", width, m.Name, m.Count, m.Rate)
	}
	for _, p := range s.Pairs {
		p.writeText(&b)
	}
	fmt.Fprintf(&b, "\nsince %s, %v; rates are of the last %d s\n",
		s.Since.UTC().Format(time.RFC3339), s.Elapsed.Round(time.Second), Window)
	_, err := io.WriteString(w, b.String())
	return err
}

func (p *Pair) writeText(b *strings.Builder) {
	fmt.Fprintf(b, "\n%v\n", sink.Pair{Begin: p.Begin, End: p.End, Key: p.Key, EndKey: p.EndKey})
	fmt.Fprintf(b, "  count %d   rate %.1f/s   open %d   unended %d   unbegun %d\n", p.Count, p.Rate, p.Open, p.Unended, p.Unbegun)
	if p.Count == 0 {
		return
	}
	l := &p.Latency
	fmt.Fprintf(b, "  mean %v   p50 %v   p90 %v   p99 %v   p99.9 %v   max %v\n",
		short(l.Mean), short(l.P50), short(l.P90), short(l.P99), short(l.P999), short(l.Max))
	var most uint64
	for _, bucket := range l.Buckets {
		most = max(most, bucket.Count)
	}
	for _, bucket := range l.Buckets {
		bar := strings.Repeat("█", int((bucket.Count*barWidth+most-1)/most))
		line := fmt.Sprintf("  %10v – %-10v  %8d  %s", short(bucket.From), short(bucket.To), bucket.Count, bar)
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	}
}

// short returns a duration with three digits at most.
func short(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
