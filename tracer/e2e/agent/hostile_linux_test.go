package agent_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// connect opens the target's socket as somebody who does not know the protocol.
func connect(t *testing.T, socket string) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

const hello = `{"do":"hello","version":2}` + "\n"

// converse sends bytes and returns what comes back until there is what is wanted, or the agent closes.
func converse(t *testing.T, socket, say, want string) string {
	t.Helper()
	c := connect(t, socket)
	defer c.Close()
	io.WriteString(c, say)
	c.SetReadDeadline(time.Now().Add(2 * time.Minute))
	var all []byte
	b := make([]byte, 4096)
	for want == "" || !bytes.Contains(all, []byte(want)) {
		n, err := c.Read(b)
		if all = append(all, b[:n]...); err != nil || len(all) > 1<<20 {
			break
		}
	}
	return string(all)
}

// Garbage is refused, with a reason where there is one to hear it.
func TestGarbage(t *testing.T) {
	runtimeDir(t)
	p := run(t, nil)
	socket := p.ask("look").Socket
	before := p.ask("look")
	for _, tt := range []struct{ say, want string }{
		{"GET / HTTP/1.1\r\n\r\n", ""},
		{strings.Repeat("x", 100_000), ""},
		{strings.Repeat("[", 60_000) + "\n", ""},
		{`{"do":"list"}` + "\n", "the first request is hello"},
		{`{"do":"hello","version":7}` + "\n", "speaks version 2 of the protocol, the client version 7"},
		{`{"do":"hello","version":1}` + "\n", "rebuild the program with the agent of this waymark and restart it"},
		{hello + `{"do":"arm","names":["` + strings.Repeat("y", 65_000) + `"]}` + "\n", `"process"`},
		{hello + `{"do":"conquer"}` + "\n", `there is no request \"conquer\"`},
		{hello + `{"do":"arm","names":["a b\u0000\u001b[2J"]}` + "\n", `"code":"point"`},
		{hello + `{"do":"arm","names":[` + strings.TrimSuffix(strings.Repeat(`"x",`, 5000), ",") + `]}` + "\n", "process"},
		{hello + `{"do":"disarm","names":["target:worked"]}` + "\n", "this connection has not armed it"},
		{hello + "\x00\xff\n", "process"},
	} {
		if got := converse(t, socket, tt.say, tt.want); !strings.Contains(got, tt.want) {
			t.Errorf("after %.60q: %.200q, want %q", tt.say, got, tt.want)
		}
	}
	settled(t, p, before)
}

// settled waits until the target is as it was before its clients came.
func settled(t *testing.T, p *program, before state) {
	t.Helper()
	var s state
	for range 12_000 {
		s = p.ask("look")
		// The runtime's poller, two files, is there from the first connection on.
		if s.Goroutines <= before.Goroutines && s.Files <= before.Files+2 && s.Sockets <= before.Sockets && !s.Armed {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if s.Goroutines > before.Goroutines || s.Files > before.Files+2 || s.Sockets > before.Sockets || s.Armed {
		t.Errorf("before %+v, after two minutes %+v", before, s)
	}
	if s.RSS > before.RSS+16<<10 {
		t.Errorf("%d KiB resident before, %d after", before.RSS, s.RSS)
	}
	dial(t, p) // and it still answers
}

// Clients that stop in the middle of a message, or before the first, are closed in time.
func TestHalfMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the agent's patience to end")
	}
	runtimeDir(t)
	p := run(t, nil)
	socket := p.ask("look").Socket
	before := p.ask("look")
	var wg sync.WaitGroup
	for _, say := range []string{"", `{"do":`, hello + `{"do":"li`} {
		c := connect(t, socket)
		io.WriteString(c, say)
		wg.Go(func() {
			c.SetReadDeadline(time.Now().Add(time.Minute))
			began := time.Now()
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Errorf("after %q: %v in %v, want the end of the connection", say, err, time.Since(began))
			}
		})
	}
	// One that never reads its answers.
	deaf := connect(t, socket)
	deaf.(*net.UnixConn).SetReadBuffer(1)
	io.WriteString(deaf, hello)
	wg.Go(func() {
		list := bytes.Repeat([]byte(`{"do":"list"}`+"\n"), 1000)
		deaf.SetWriteDeadline(time.Now().Add(time.Minute))
		for {
			if _, err := deaf.Write(list); err != nil {
				if ne, ok := err.(net.Error); ok && ne.Timeout() {
					t.Error("a client that never reads is not closed within a minute")
				}
				return
			}
		}
	})
	wg.Wait()
	settled(t, p, before)
}

// Ten thousand connections, one after the other and some at once, leave the target as it was.
func TestManyConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("makes ten thousand connections")
	}
	runtimeDir(t)
	p := run(t, nil)
	socket := p.ask("look").Socket
	before := p.ask("look")
	began := time.Now()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 1250 {
				c, err := net.Dial("unix", socket)
				for errors.Is(err, syscall.EAGAIN) { // the agent takes its time
					time.Sleep(time.Millisecond)
					c, err = net.Dial("unix", socket)
				}
				if err != nil {
					t.Errorf("connection %d: %v", i, err)
					return
				}
				if i%3 > 0 {
					io.WriteString(c, []string{"", hello, "rubbish"}[i%3])
				}
				c.Close()
			}
		})
	}
	wg.Wait()
	t.Logf("10000 connections in %v", time.Since(began))
	settled(t, p, before)
}

// More connections than an agent takes are refused, with the reason.
func TestTooManyConnections(t *testing.T) {
	runtimeDir(t)
	p := run(t, nil)
	socket := p.ask("look").Socket
	for i := range 16 {
		c := connect(t, socket)
		io.WriteString(c, hello)
		if n, err := c.Read(make([]byte, 1)); n != 1 {
			t.Fatalf("connection %d: %v", i, err)
		}
	}
	const want = "16 connections, as many as an agent takes"
	if got := converse(t, socket, hello, want); !strings.Contains(got, want) {
		t.Errorf("the 17th: %q", got)
	}
}

// What clients do together is limited to a share of the program's time.
func TestBudget(t *testing.T) {
	runtimeDir(t)
	p := run(t, nil)
	socket := p.ask("look").Socket
	c := connect(t, socket)
	io.WriteString(c, hello)
	go func() {
		for {
			if _, err := io.WriteString(c, `{"do":"list"}`+"\n"); err != nil {
				return
			}
		}
	}()
	answered := 0
	began := time.Now()
	b := make([]byte, 64<<10)
	for took := time.Duration(0); took < 3*time.Second; took = time.Since(began) {
		c.SetReadDeadline(began.Add(3 * time.Second))
		if answered == 0 { // on a busy machine the first one may take longer
			c.SetReadDeadline(began.Add(2 * time.Minute))
		}
		n, err := c.Read(b)
		answered += bytes.Count(b[:n], []byte("\n"))
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
	}
	used := cpuTime(t, p.PID())
	took := time.Since(began)
	t.Logf("%d answers, %v of processor time in %v", answered, used, took)
	// Half a second is saved, and a twentieth of the time. An unlimited agent uses all of one processor.
	if used > took/20+1650*time.Millisecond {
		t.Errorf("%v of processor time for a client in %v", used, took)
	}
	if answered == 0 {
		t.Error("no answer at all")
	}
}

func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	var user, system int64
	stat := readFile(t, fmt.Sprintf("/proc/%d/stat", pid))
	rest := stat[strings.LastIndexByte(stat, ')')+2:]
	if _, err := fmt.Sscanf(rest, "%1s %d %d %d %d %d %d %d %d %d %d %d %d", new(string), new(int), new(int), new(int), new(int), new(int),
		new(int64), new(int64), new(int64), new(int64), new(int64), &user, &system); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100 on every Linux
}
