package history

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
)

// A disk is a file system of a few pages, in a mount namespace of its own.
type disk struct {
	holder  *exec.Cmd // keeps the namespace
	in      io.Closer
	inside  string // where it is in the namespace
	outside string // where it is for all others
}

func newDisk(dir string, size int) (*disk, error) {
	d := &disk{inside: dir}
	d.holder = exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-ec",
		fmt.Sprintf("mount -t tmpfs -o size=%d,mode=700 waymark-history %s; echo ready; read line", size, dir))
	in, err := d.holder.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := d.holder.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.in = in
	if err := d.holder.Start(); err != nil {
		return nil, err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		d.free()
		return nil, fmt.Errorf("mounting a small disk: %q, %v", line, err)
	}
	d.outside = fmt.Sprintf("/proc/%d/root%s", d.holder.Process.Pid, dir)
	return d, nil
}

// enter returns the command that runs others in the namespace. It executes them, so the process stays the same one.
func (d *disk) enter() []string {
	return []string{"nsenter", fmt.Sprintf("--mount=/proc/%d/ns/mnt", d.holder.Process.Pid), "--"}
}

// free ends the namespace, and with it what is on the disk.
func (d *disk) free() {
	d.in.Close()
	d.holder.Wait()
}
