package tracer

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

const execSource = `package main

import ("bufio"; "fmt"; "os"; "runtime"; "syscall")

func main() {
	runtime.LockOSThread() // so that the other goroutine runs on another thread
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		fmt.Println(syscall.Exec(os.Args[1], os.Args[1:], nil))
		close(done)
	}()
	<-done
}
`

// A Go program executes another from a thread that is not its first, and that thread takes over
// the process's number: followed or not, every hit is counted.
func TestExecByThread(t *testing.T) {
	path := tick(t)
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte(execSource), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, peer.Need(t, "go")[0], "build", "-o", program, source)
	for name, followed := range map[string]bool{"one": false, "followed": true} {
		t.Run(name, func(t *testing.T) {
			p := startProgram(t, program, path, "25", "run")
			c, err := Count(follow(PIDs(p.PID()), followed), nil, &CountOptions{Attach: Attach{Later: later(t, true)}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			p.run()
			p.Expect("done 25")
			<-c.Ended()
			if got := hits(t, c); got["loop1"] != 25 || got["loop2"] != 25 {
				t.Errorf("counted %v, want 25 of each", got)
			}
		})
	}
}
