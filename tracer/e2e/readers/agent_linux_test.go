package readers_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/shm/rundir"
	"github.com/waymark-trace/waymark/internal/shm/wire"
	"github.com/waymark-trace/waymark/internal/test/talk"
)

// answersEnv makes the test binary stand at the socket of an agent, with the answers and the ring file in a directory.
const answersEnv = "WAYMARK_READERS_ANSWERS"

// impersonate gives each request the answers of its kind, one after the other, whatever they are.
func impersonate(dir string) error {
	answers, err := os.ReadFile(filepath.Join(dir, "answers"))
	if err != nil {
		return err
	}
	self, err := rundir.Self()
	if err != nil {
		return err
	}
	of := map[string][][]byte{}
	for line := range bytes.Lines(answers) {
		kind, answer, _ := bytes.Cut(line, []byte{' '})
		answer = bytes.ReplaceAll(answer, []byte(`"PID"`), fmt.Append(nil, os.Getpid()))
		of[string(kind)] = append(of[string(kind)], bytes.ReplaceAll(answer, []byte(`"START"`), fmt.Append(nil, self.Start)))
	}
	run, err := rundir.Create()
	if err != nil {
		return err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: run.Inside(self.Socket()), Net: "unix"})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return err
		}
		go answer(c, of, filepath.Join(dir, "ring"))
	}
}

func answer(c *net.UnixConn, of map[string][][]byte, ring string) {
	defer c.Close()
	for in := bufio.NewScanner(c); in.Scan(); {
		var r wire.Request
		_ = json.Unmarshal(in.Bytes(), &r)
		all := of[r.Do]
		if all == nil {
			all = [][]byte{[]byte("{}\n")}
		}
		for _, a := range all {
			var rights []byte
			if bytes.Contains(a, []byte(`"file":true`)) {
				f, err := os.OpenFile(ring, os.O_RDWR, 0)
				if err != nil {
					return
				}
				defer f.Close()
				rights = syscall.UnixRights(int(f.Fd()))
			}
			if _, _, err := c.WriteMsgUnix(a, rights, nil); err != nil {
				return
			}
		}
	}
}

// agentInput makes the answers of a real agent, and a ring that it wrote.
func agentInput(t *testing.T, dir string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	command(t, "go", "build", "-o", program, "../../../examples/agent")
	p := talk.Start(t, exec.Command(program))
	var c net.Conn
	socket := ""
	eventually(t, "the agent listens", func() bool {
		found, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "*", fmt.Sprintf("%d-*.sock*", p.PID())))
		if found == nil {
			return false
		}
		socket = found[0]
		var err error
		c, err = net.Dial("unix", socket)
		return err == nil
	})
	defer c.Close()
	in := bufio.NewReader(c)
	var text strings.Builder
	ask := func(kind, request string) {
		t.Helper()
		if _, err := io.WriteString(c, request+"\n"); err != nil {
			t.Fatal(err)
		}
		for more := true; more; { // of the answers to one request
			line, err := in.ReadBytes('\n')
			if err != nil {
				t.Fatal(err)
			}
			var a wire.Answer
			if err := json.Unmarshal(line, &a); err != nil || a.Error != nil {
				t.Fatalf("%s: %s, %v", request, line, err)
			}
			more = a.More
			if a.Process != nil {
				line = bytes.Replace(line, fmt.Appendf(nil, `"pid":%d`, a.Process.PID), []byte(`"pid":"PID"`), 1)
				line = bytes.Replace(line, fmt.Appendf(nil, `"start":%d`, a.Process.Start), []byte(`"start":"START"`), 1)
			}
			fmt.Fprintf(&text, "%s %s", kind, line)
		}
	}
	ask(wire.Hello, fmt.Sprintf(`{"do":"hello","version":%d}`, wire.Version))
	ask(wire.List, `{"do":"list"}`)
	ask(wire.Record, `{"do":"record","session":{"name":"flight","patterns":["work:*"],"mode":"overwrite","size":262144}}`)
	ask(wire.Sessions, `{"do":"sessions"}`)
	ask(wire.Ring, `{"do":"ring","name":"flight"}`)
	ring := filepath.Join(filepath.Dir(socket), strings.TrimSuffix(filepath.Base(socket), filepath.Ext(socket)), "flight.ring")
	time.Sleep(300 * time.Millisecond) // some events
	if err := p.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Cmd.Wait()
	data, err := os.ReadFile(ring)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "ring"), data)
	write(t, filepath.Join(dir, "answers"), []byte(text.String()))
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 1200 {
		if ok() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s: not within a minute", what)
}
