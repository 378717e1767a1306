// Command recorded passes a marker while it is recorded, and other things that record, and says what CPU time that
// took; or it is the consumer of what is recorded. It reads commands, one a line, and answers each
// with a line:
//
//	start MODE DIR [WHERE]   begins to record, discard or overwrite: the file
//	stop                     ends it: events, lost, filtered
//	pass LOOP THREADS N      runs a loop N times on each of so many pinned threads: CPU nanoseconds of all
//	consume HOW FILE OUT     reads what is recorded and writes it to OUT, from now on, aside, raw or as events: "ok"
//	agent                    starts the agent: "ok"
//	armed                    whether somebody records: "true" or "false"
//	cpu                      CPU nanoseconds of this process
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/agent"
	"github.com/waymark-trace/waymark/internal/shm/recorder"
	"github.com/waymark-trace/waymark/internal/shm/ring"
)

func main() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		answer, err := obey(strings.SplitN(in.Text(), " ", 4))
		if err != nil {
			fmt.Fprintf(os.Stderr, "recorded: %s: %v\n", in.Text(), err)
			os.Exit(1)
		}
		fmt.Println(answer)
	}
}

const (
	size       = 16 << 20 // bytes of all rings: room for what is passed until the consumer has read it
	newestSize = 2 << 20  // bytes of a ring that keeps the newest events: as many as LTTng's default
)

var session *recorder.Session

func obey(words []string) (string, error) {
	switch words[0] {
	case "start":
		o := recorder.Options{Name: "bench", Dir: words[2], Size: size, Patterns: []string{"bench:*"}}
		if words[1] == ring.Overwrite.String() {
			o.Mode, o.Size = ring.Overwrite, uint64(runtime.NumCPU())*newestSize
		}
		if len(words) > 3 {
			o.Where = words[3]
		}
		var err error
		if session, err = recorder.Start(o); err != nil {
			return "", err
		}
		return session.Path(), nil
	case "stop":
		session.Stop()
		st := session.Stats()
		return fmt.Sprint(st.Events, st.Full+st.NoRing+st.Undescribed, st.Filtered), nil
	case "pass":
		threads, err := strconv.Atoi(words[2])
		if err != nil {
			return "", err
		}
		n, err := strconv.Atoi(words[3])
		if err != nil {
			return "", err
		}
		took, err := pass(words[1], threads, n)
		return strconv.FormatInt(took, 10), err
	case "consume":
		c, err := newConsumer(words[1], words[2], words[3])
		if err != nil {
			return "", err
		}
		go c.run()
		return "ok", nil
	case "agent":
		_, err := agent.Start(nil)
		return "ok", err
	case "armed":
		return strconv.FormatBool(hit.Enabled()), nil
	case "cpu":
		return strconv.FormatInt(processTime(), 10), nil
	}
	return "", errors.New("no such command")
}
