// Command scsi_go is ../scsi_c in Go: how a SCSI command goes to a low-level driver, with the two
// simple markers that the patch which proposed them for Linux put there.
//
//	waymark build -o scsi_mod ./examples/scsi_go
//	waymark list --simple ./scsi_mod
package main

import (
	"fmt"
	"os"

	"github.com/waymark-trace/waymark/simple"
)

type command struct {
	tag  int
	done func(*command)
}

type hostTemplate struct {
	queueCommand func(cmd *command, done func(*command)) int
}

type host struct{ template *hostTemplate }

func dispatchCmd(h *host, cmd *command, done func(*command)) int {
	simple.Mark2("queuecommand", "Command being queued %p Done function %p", cmd, done)
	rtn := h.template.queueCommand(cmd, done)
	simple.Mark2("queuecommand_return", "Command returning %p Return value %d", cmd, rtn)
	return rtn
}

func main() {
	queue := func(cmd *command, done func(*command)) int {
		done(cmd)
		return cmd.tag & 1
	}
	h := &host{&hostTemplate{queue}}
	failed := 0
	for tag := range 3 {
		cmd := &command{tag, func(c *command) { fmt.Println("done", c.tag) }}
		failed += dispatchCmd(h, cmd, cmd.done)
	}
	if failed != 1 {
		os.Exit(1)
	}
}
