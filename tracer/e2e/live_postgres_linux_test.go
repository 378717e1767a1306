package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// psql runs a statement of a session of its own.
func (c *cluster) psql(t *testing.T, statement string) {
	t.Helper()
	if out, err := asNobody(c.dir, postgresBin+"psql", "-X", "-q", "-c", statement).CombinedOutput(); err != nil {
		t.Errorf("psql -c %q: %v\n%s", statement, err, out)
	}
}

// logged returns the submatches of every line of the server's log from a place on.
func (c *cluster) logged(from int, line string) [][]string {
	return regexp.MustCompile(`(?m)^.*LOG:\s+`+line+`$`).FindAllStringSubmatch(c.log.String()[from:], -1)
}

// contend has one session wait for another's lock, as the server's log says. Where sessions take long to
// begin, the first one's may be over before the second: then others try.
func (c *cluster) contend(t *testing.T) {
	t.Helper()
	from := len(c.log.String())
	for hold := time.Second; hold < time.Minute; hold *= 2 {
		statement := fmt.Sprintf("BEGIN; LOCK TABLE pgbench_tellers; SELECT pg_sleep(%d); COMMIT", hold/time.Second)
		first := make(chan struct{})
		go func() {
			defer close(first)
			c.psql(t, statement)
		}()
		eventually(t, "the first session has begun", func() bool { return len(c.logged(from, "statement: "+regexp.QuoteMeta(statement))) > 0 })
		time.Sleep(100 * time.Millisecond) // it is at the lock a moment after that
		c.psql(t, "BEGIN; LOCK TABLE pgbench_tellers; COMMIT")
		<-first
		if len(c.logged(from, `.* still waiting for .*`)) > 0 {
			return
		}
	}
	t.Error("no session has waited for another's lock")
}

// What the server writes into its own log is what the tracers see: how many transactions,
// which statements, who waited for which lock, what a checkpoint did.
func TestLivePostgreSQL(t *testing.T) {
	peer.Root(t)
	peer.Need(t, postgresBin+"postgres", postgresBin+"pgbench", postgresBin+"psql", "perf", "bpftrace")
	c := startCluster(t, "log_statement=all", "log_connections=on", "log_checkpoints=on",
		"log_lock_waits=on", "deadlock_timeout=10ms", "shared_buffers=16MB")
	from := len(c.log.String())
	all := gather(t, c.executable, 0, map[string]string{
		"postgresql:query__start":      `"%s", str(arg0)`,
		"postgresql:checkpoint__done":  `"%d %d %d %d %d", arg0, arg1, arg2, arg3, arg4`,
		"postgresql:lock__wait__start": `"%d %d %d %d %d %d", arg0, arg1, arg2, arg3, arg4, arg5`,
	}, "postgresql:transaction__start", "postgresql:query__start", "postgresql:lock__wait__start",
		"postgresql:lock__wait__done", "postgresql:checkpoint__done")

	c.pgbench(t, 500)
	for range 3 {
		c.contend(t)
	}
	for i := range 3 {
		c.psql(t, fmt.Sprintf("UPDATE pgbench_tellers SET tbalance = %d", i))
		c.psql(t, "CHECKPOINT")
	}
	c.psql(t, "SELECT 'the end'")
	eventually(t, "the log is complete", func() bool { return len(c.logged(from, `statement: SELECT 'the end'`)) == 1 })
	var v verdict
	v.counts, v.hits = all.stop()

	var statements, locks, checkpoints []string
	for _, m := range c.logged(from, `statement: (.*)`) {
		statements = append(statements, m[1])
	}
	for _, m := range c.logged(from, `process \d+ still waiting for AccessExclusiveLock on relation (\d+) of database (\d+) .*`) {
		// A lock's tag: database, relation, two fields that relations have no use for, the tag's
		// type LOCKTAG_RELATION, the method DEFAULT_LOCKMETHOD; then the mode.
		locks = append(locks, m[2]+" "+m[1]+" 0 0 0 8")
	}
	buffers := 16 << 20 / 8192
	for _, m := range c.logged(from, `checkpoint complete: wrote (\d+) buffers .*?; (\d+) WAL file\(s\) added, (\d+) removed, (\d+) recycled; .*`) {
		checkpoints = append(checkpoints, strings.Join([]string{m[1], fmt.Sprint(buffers), m[2], m[3], m[4]}, " "))
	}
	if len(statements) < 1000 || len(locks) == 0 || len(checkpoints) != 3 {
		t.Fatalf("the log has %d statements, %d waits, %d checkpoints", len(statements), len(locks), len(checkpoints))
	}
	// Each of these statements is a transaction, and so is the start of each session.
	sessions := uint64(len(c.logged(from, `connection authorized: .*`)))
	v.counted(t, "postgresql:transaction__start", uint64(len(statements))+sessions)
	v.counted(t, "postgresql:query__start", uint64(len(statements)))
	v.carried(t, "postgresql:query__start", "the SQL", statements)
	v.counted(t, "postgresql:lock__wait__start", uint64(len(locks)))
	v.counted(t, "postgresql:lock__wait__done", uint64(len(locks)))
	v.carried(t, "postgresql:lock__wait__start", "six arguments", locks)
	v.counted(t, "postgresql:checkpoint__done", 3)
	v.carried(t, "postgresql:checkpoint__done", "five arguments", checkpoints)
	t.Logf("%d sessions, %d statements, %d waits, %d checkpoints", sessions, len(statements), len(locks), len(checkpoints))
}
