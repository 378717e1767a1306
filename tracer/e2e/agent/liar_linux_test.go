package agent_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/internal/shm/rundir"
	"github.com/waymark-trace/waymark/internal/shm/wire"
	"github.com/waymark-trace/waymark/internal/test/talk"
	"github.com/waymark-trace/waymark/tracer"
)

// liar is a program that has something else than an agent at its socket.
func liar() {
	self, err := rundir.Self()
	check(err)
	dir, err := rundir.Create()
	check(err)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dir.Inside(self.Socket()), Net: "unix"})
	check(err)
	if os.Getenv("WAYMARK_TEST_LIE") == "hang" { // and seems to record
		_, err = dir.Own(self)
		check(err)
	}
	fmt.Println("ready")
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for n := 1; ; n++ {
		c, err := l.AcceptUnix()
		check(err)
		go lie(c, os.Getenv("WAYMARK_TEST_LIE"), n)
	}
}

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// lie answers as an agent would, but for one thing, on the connection with a number.
func lie(c *net.UnixConn, how string, number int) {
	in := bufio.NewScanner(c)
	for in.Scan() {
		var r wire.Request
		json.Unmarshal(in.Bytes(), &r)
		say := func(a any, files ...*os.File) {
			b, _ := json.Marshal(a)
			var fds []int
			for _, f := range files {
				fds = append(fds, int(f.Fd()))
			}
			var rights []byte
			if fds != nil {
				rights = syscall.UnixRights(fds...)
			}
			c.WriteMsgUnix(append(b, '\n'), rights, nil)
		}
		session := &wire.Session{Name: "stream-1"}
		switch {
		case how == "hang":
		case r.Do == wire.Hello && how == "garbage":
			io.WriteString(c, "\x00\xff{{{\n")
		case r.Do == wire.Hello && how == "long":
			io.WriteString(c, strings.Repeat("x", 1<<20))
		case r.Do == wire.Hello && how == "nothing":
			say(&wire.Answer{})
		case r.Do == wire.Hello && how == "end":
			c.Close()
		case r.Do == wire.Hello && how == "files":
			null, _ := os.Open("/dev/null")
			say(&wire.Answer{Process: &wire.Process{Version: wire.Version}}, null, null, null, null, null, null, null, null)
		case r.Do == wire.Hello && how == "count":
			say(&wire.Answer{Process: &wire.Process{Version: wire.Version, Executable: fmt.Sprint("connection ", number)}})
		case r.Do == wire.Hello:
			say(&wire.Answer{Process: &wire.Process{Version: wire.Version, PID: -1, Executable: "\x1b[2J\x00" + strings.Repeat("y", 5000)}})
		case r.Do == wire.List && how == "endless":
			for {
				if _, err := io.WriteString(c, `{"more":true,"point":{"kind":"key","name":"a:b"}}`+"\n"); err != nil {
					return
				}
			}
		case r.Do == wire.List:
			say(&wire.Answer{More: true, Point: &wire.Point{Kind: wire.Marker, Name: "a:b", Format: "n %d", Fields: []event.Field{{Name: "n", Type: "\x1b]0;x\a"}}}})
			say(&wire.Answer{More: true, Point: &wire.Point{Kind: "\x1b[31m", Name: strings.Repeat("\x1b", 60_000/6)}})
			say(&wire.Answer{})
		case r.Do == wire.Record && how == "no file":
			say(&wire.Answer{Session: session, File: true})
		case r.Do == wire.Record && how == "path":
			session.Name = "../../../../tmp/x"
			say(&wire.Answer{Session: session, File: true}, badFile("empty"))
		case r.Do == wire.Record && how == "two":
			f := badFile("empty")
			say(&wire.Answer{Session: session, File: true}, f, f)
		case r.Do == wire.Record:
			say(&wire.Answer{Session: session, File: true}, badFile(how))
		case r.Do == wire.Stop && how == "stop":
			say(&wire.Answer{Error: &wire.Error{Code: "\x1b", Text: strings.Repeat("\x1b[2J", 100)}})
		default:
			say(&wire.Answer{})
		}
	}
}

// badFile returns what is no good ring.
func badFile(how string) *os.File {
	switch how {
	case "pipe":
		r, _, _ := os.Pipe()
		return r
	case "directory":
		f, _ := os.Open("/")
		return f
	case "zero":
		f, _ := os.Open("/dev/zero")
		return f
	}
	f, err := os.CreateTemp("", "liar")
	check(err)
	os.Remove(f.Name())
	switch how {
	case "sparse":
		f.Truncate(1 << 40)
	case "noise":
		f.Write([]byte(strings.Repeat("\xffwayring", 1<<16)))
	case "cut", "head", "stop":
		path := f.Name() + ".ring"
		good, err := ring.Create(path, ring.Options{})
		check(err)
		f, err = os.OpenFile(path, os.O_RDWR, 0)
		check(err)
		os.Remove(path)
		if how == "stop" {
			break
		}
		go func() {
			time.Sleep(200 * time.Millisecond) // until it is mapped
			if how == "cut" {
				f.Truncate(100)
				return
			}
			for range 100 { // all of what a writer owns
				noise := []byte(strings.Repeat("\xff\x08\x00\x01\x7f\x00\x00\x00", 512))
				for at := int64(64 << 10); at < 1<<20; at += int64(len(noise)) {
					f.WriteAt(noise, at)
				}
				time.Sleep(10 * time.Millisecond)
			}
			good.End()
		}()
	}
	return f
}

// Whatever a program says and hands over in the place of an agent, those who ask it get an error, or
// nothing, and go on.
func TestLiar(t *testing.T) {
	runtimeDir(t)
	for _, tt := range []struct{ lie, want string }{
		{"garbage", "answer:"}, {"long", "more than 65536 bytes"}, {"nothing", "hello says nothing"}, {"end", "has closed the connection"},
		{"files", ""}, {"endless", "more than 16384"}, {"no file", "0 descriptors"}, {"two", "2 descriptors"}, {"path", "does not say what it records"},
		{"empty", "header"}, {"pipe", "no regular file"}, {"directory", ""}, {"zero", "no regular file"}, {"sparse", "does not begin"}, {"noise", ""},
		{"cut", "cut short"}, {"head", "offset 0x"}, {"stop", "\x1b[2J"},
	} {
		t.Run(tt.lie, func(t *testing.T) {
			p := exec.Command(os.Args[0])
			p.Env = append(os.Environ(), "WAYMARK_TEST_ROLE=liar", "WAYMARK_TEST_LIE="+tt.lie)
			talk.Start(t, p).Expect("ready")
			before := files(t)
			patience := time.Minute
			if tt.want == "" || tt.lie == "stop" { // where no event and no error may come
				patience = 500 * time.Millisecond
			}
			err := look(p.Process.Pid, patience)
			if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if after := files(t); after > before+2 { // the runtime's poller
				t.Errorf("%d files before, %d after", before, after)
			}
		})
	}
}

// Who leaves the engine to Find connects to an agent once to learn of its markers.
func TestAgentIsAskedOnce(t *testing.T) {
	runtimeDir(t)
	p := exec.Command(os.Args[0])
	p.Env = append(os.Environ(), "WAYMARK_TEST_ROLE=liar", "WAYMARK_TEST_LIE=count")
	talk.Start(t, p).Expect("ready")
	found, err := tracer.PIDs(p.Process.Pid).Find(context.Background())
	must(t, err)
	if e := found.Target().Engine(); e != tracer.EngineAgent || len(found.Markers) != 1 {
		t.Fatalf("%d markers by the engine %v", len(found.Markers), e)
	}
	if path := found.Markers[0].File.Path; path != "connection 1" {
		t.Errorf("the markers came by %s", path)
	}
}

// look does what the command does, and returns the first error.
func look(pid int, patience time.Duration) error {
	target := tracer.PIDs(pid).By(tracer.EngineAgent)
	markers, err := tracer.Find(context.Background(), target)
	if err != nil {
		return err
	}
	tr, err := tracer.Trace(target, markers, nil)
	if err != nil {
		return err
	}
	defer tr.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for err == nil {
		err = tr.Read(ctx, &event.Event{})
	}
	if ctx.Err() != nil {
		return tr.Stop()
	}
	return err
}

func files(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(all)
}
