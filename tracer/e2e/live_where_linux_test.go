package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// events ends a waymark trace and returns the fields of its events, each as an object, and how many
// hits its condition did not hold of. None may be lost.
func (w *watcher) events() (fields []map[string]any, filtered uint64) {
	w.t.Helper()
	w.interrupt()
	for line := range bytes.Lines(w.stdout.Bytes()) {
		var object struct {
			Fields  map[string]any
			Summary *struct{ Events, Lost, Filtered uint64 }
		}
		if err := json.Unmarshal(line, &object); err != nil {
			w.t.Fatalf("line %q: %v", line, err)
		}
		if s := object.Summary; s == nil {
			fields = append(fields, object.Fields)
		} else if filtered = s.Filtered; s.Lost != 0 || s.Events != uint64(len(fields)) {
			w.t.Errorf("summary %+v of %d events", *s, len(fields))
		}
	}
	return fields, filtered
}

// Of PostgreSQL's statements those come through a condition that its own log says it holds of, and the
// others are counted.
func TestLiveWherePostgreSQL(t *testing.T) {
	peer.Root(t)
	peer.Need(t, postgresBin+"postgres", postgresBin+"pgbench", postgresBin+"psql")
	c := startCluster(t, "log_statement=all", "log_lock_waits=on", "deadlock_timeout=10ms")
	from := len(c.log.String())
	tests := []struct {
		where string
		holds func(statement string) bool
	}{
		{`query ~ "UPDATE*"`, func(s string) bool { return strings.HasPrefix(s, "UPDATE") }},
		{`query ~ "*pgbench_tellers*" && comm == "postgres"`, func(s string) bool { return strings.Contains(s, "pgbench_tellers") }},
		{`query !~ "SELECT abalance FROM pgbench_accounts WHERE aid = ?*;" && pid > 0`, func(s string) bool { return !strings.HasPrefix(s, "SELECT abalance") }},
		{`query == "BEGIN; LOCK TABLE pgbench_tellers; COMMIT" || query == "SELECT 1"`, func(s string) bool {
			return s == "BEGIN; LOCK TABLE pgbench_tellers; COMMIT" || s == "SELECT 1"
		}},
	}
	var traces, stats []*watcher
	for _, test := range tests {
		traces = append(traces, watchBy(t, "trace", "--max-string", "4096", "--where", test.where, c.executable, "query__start"))
		stats = append(stats, watch(t, "--where", test.where, c.executable, "query__start"))
	}
	pairs := watchBy(t, "latency", "--where", tests[0].where, c.executable, "query__start", "query__done")
	locks := watchBy(t, "trace", "--where", "arg6 == 8 && arg1 > 0 && arg5 & 0xff == 0", c.executable, "lock__wait__start")
	shared := watch(t, "--where", "arg6 < 8", c.executable, "lock__wait__start")

	c.pgbench(t, 200)
	for i := range 7 {
		c.psql(t, fmt.Sprintf("UPDATE pgbench_tellers SET tbalance = %d", i))
		c.psql(t, fmt.Sprintf("UPDATE pgbench_branches SET bbalance = %d WHERE bid = 1", i))
		c.psql(t, "SELECT 1")
	}
	c.contend(t)
	c.psql(t, "SELECT 'the end'")
	eventually(t, "the log is complete", func() bool { return len(c.logged(from, `statement: SELECT 'the end'`)) == 1 })

	var statements []string
	for _, m := range c.logged(from, `statement: (.*)`) {
		statements = append(statements, m[1])
	}
	for i, test := range tests {
		want := map[string]int{}
		n := uint64(0)
		for _, s := range statements {
			if test.holds(s) {
				want[s]++
				n++
			}
		}
		if n == 0 || n == uint64(len(statements)) {
			t.Errorf("%s: holds of %d of %d statements", test.where, n, len(statements))
		}
		events, filtered := traces[i].events()
		got := map[string]int{}
		for _, fields := range events {
			got[fmt.Sprint(fields["query"])]++
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: statements (-log +waymark):\n%s", test.where, diff)
		}
		if n+filtered != uint64(len(statements)) {
			t.Errorf("%s: %d events and %d others, and %d statements", test.where, n, filtered, len(statements))
		}
		if counted := stats[i].stop()["postgresql:query__start"]; counted != n {
			t.Errorf("%s: stat counted %d, want %d", test.where, counted, n)
		}
	}

	pairs.interrupt()
	var last struct {
		Pairs    uint64
		Final    bool
		Unpaired struct{ From, To uint64 }
	}
	lines := bytes.Split(bytes.TrimSpace(pairs.stdout.Bytes()), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil {
		t.Fatal(err)
	}
	if !last.Final || last.Pairs != 14 || last.Unpaired.From+last.Unpaired.To != 0 {
		t.Errorf("%+v, want 14 pairs, one for each UPDATE", last)
	}

	waits := len(c.logged(from, `process \d+ still waiting for AccessExclusiveLock on relation (\d+) of database (\d+) .*`))
	if events, filtered := locks.events(); len(events) != waits || waits == 0 || filtered != 0 {
		t.Errorf("%d waits for exclusive locks and %d others, the log has %d", len(events), filtered, waits)
	}
	if n := shared.stop()["postgresql:lock__wait__start"]; n != 0 {
		t.Errorf("%d waits for locks of other modes: there were none", n)
	}
}

// Of Python's calls those come through that sys.setprofile says a condition holds of.
func TestLiveWherePython(t *testing.T) {
	peer.Root(t)
	peer.Need(t, python)
	path := filepath.Join(private(t, python), "python3.11")
	p := converse(t, path, "-S", "testdata/count.py")
	var calls, returns, collections uint64
	p.Scan(&calls, &returns, &collections)
	type call struct {
		file, name string
		line       int
	}
	all := make([]call, calls)
	for i := range all {
		p.Scan(&all[i].file, &all[i].name, &all[i].line)
	}
	add := 0
	for _, c := range all {
		if c.name == "add" {
			add = c.line
		}
	}
	tests := []struct {
		where string
		holds func(call) bool
	}{
		{`funcname == "double"`, func(c call) bool { return c.name == "double" }},
		{`funcname ~ "*a*" && filename ~ "*count.py"`, func(c call) bool { return strings.Contains(c.name, "a") }},
		{fmt.Sprintf(`lineno > %d`, add), func(c call) bool { return c.line > add }},
		{fmt.Sprintf(`lineno <= %d && !(funcname == "double")`, add), func(c call) bool { return c.line <= add && c.name != "double" }},
		{fmt.Sprintf(`lineno - %d == 0 || funcname ~ "raise?"`, add), func(c call) bool { return c.line == add || c.name == "raise_" }},
	}
	pid := fmt.Sprint(p.PID())
	// Debian's Python 3.11 passes function__entry only while somebody looks at line.
	lines := watch(t, "-p", pid, "python:line")
	var traces, stats []*watcher
	for _, test := range tests {
		traces = append(traces, watchBy(t, "trace", "-p", pid, "--where", test.where, "python:function__entry"))
		stats = append(stats, watch(t, "-p", pid, "--by", "funcname", "--where", test.where, "python:function__entry"))
	}
	var done string
	p.Tell("")
	p.Scan(&done)
	for i, test := range tests {
		want, got := map[call]int{}, map[call]int{}
		n := uint64(0)
		for _, c := range all {
			if test.holds(c) {
				want[c]++
				n++
			}
		}
		if n == 0 || n == calls {
			t.Errorf("%s: holds of %d of %d calls", test.where, n, calls)
		}
		events, filtered := traces[i].events()
		for _, f := range events {
			got[call{fmt.Sprint(f["filename"]), fmt.Sprint(f["funcname"]), int(f["lineno"].(float64))}]++
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(call{})); diff != "" {
			t.Errorf("%s: calls (-sys.setprofile +waymark):\n%s", test.where, diff)
		}
		if n+filtered != calls {
			t.Errorf("%s: %d events and %d others, of %d calls", test.where, n, filtered, calls)
		}
		if counted := stats[i].stop()["python:function__entry"]; counted != n {
			t.Errorf("%s: stat counted %d, want %d", test.where, counted, n)
		}
	}
	lines.stop()
}
