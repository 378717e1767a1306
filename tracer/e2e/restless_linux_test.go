package e2e

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/sdt"
)

// restless is processes that fork, execute themselves anew, load a library late, and die, all
// at random; those that die are replaced.
type restless struct {
	files []*storm // the program and the library, each with where its markers are
	calm  chan struct{}
	all   sync.WaitGroup
	mu    sync.Mutex
	pids  []int // by slot, each the leader of a process group
	died  atomic.Int64
	*rand.Rand
}

// restlessProcesses is how many there are; WAYMARK_TEMPEST_PROCESSES=400 is for long runs.
const restlessProcesses = 50

func startRestless(t *testing.T) *restless {
	t.Helper()
	gcc := peer.Need(t, "gcc")[0]
	peer.Header(t, "sys/sdt.h")
	dir := private(t)
	program, library := filepath.Join(dir, "restless"), filepath.Join(dir, "late.so")
	run(t, gcc, "-O2", "-o", program, "testdata/restless.c", "-ldl")
	run(t, gcc, "-O2", "-DLIBRARY", "-shared", "-fPIC", "-o", library, "testdata/restless.c")
	r := &restless{Rand: peer.Random(t), calm: make(chan struct{}), pids: make([]int, fromEnv(t, "WAYMARK_TEMPEST_PROCESSES", restlessProcesses))}
	for _, path := range []string{program, library} {
		f, err := sdt.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		r.files = append(r.files, &storm{path: path, file: f})
	}
	for slot := range r.pids {
		started := make(chan error)
		r.all.Go(func() { r.keep(slot, started) })
		if err := <-started; err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		r.signal(syscall.SIGKILL)
		r.all.Wait()
	})
	return r
}

// keep has a process run in a slot until all are calm, and waits for the last one.
func (r *restless) keep(slot int, started chan<- error) {
	for {
		cmd := exec.Command(r.files[0].path, r.files[1].path, fmt.Sprint(r.Int32()), "-1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		r.mu.Lock()
		err := cmd.Start()
		if err == nil {
			r.pids[slot] = cmd.Process.Pid
		}
		r.mu.Unlock()
		if started != nil {
			started <- err
			started = nil
		}
		if err != nil {
			return
		}
		cmd.Wait()
		r.died.Add(1)
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its children
		select {
		case <-r.calm:
			return
		default:
		}
	}
}

// signal sends a signal to every process.
func (r *restless) signal(s syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.calm:
	default:
		close(r.calm) // nobody is replaced from now on
	}
	for _, pid := range r.pids {
		syscall.Kill(-pid, s)
	}
}

// any returns one of the processes that were started.
func (r *restless) any() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pids[r.IntN(len(r.pids))]
}

// look counts in all processes the counters that are not zero and the sites that are not what
// the files have: a uprobe in the kernel shows as one of each in whoever maps them.
func (r *restless) look(t *testing.T) (processes, mapped, raised, probed int) {
	t.Helper()
	pids, err := procfs.PIDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		maps, err := procfs.Maps(pid)
		if err != nil {
			continue
		}
		memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
		if err != nil {
			continue
		}
		for i, s := range r.files {
			if _, ok := s.place(maps, uint64(s.file.Sites[0].Offset)); !ok {
				continue
			}
			if mapped++; i == 0 {
				processes++
			}
			r, p := s.differ(t, memory, maps)
			raised, probed = raised+r, probed+p
		}
		memory.Close()
	}
	return processes, mapped, raised, probed
}

// differ compares one process with the file.
func (s *storm) differ(t *testing.T, memory io.ReaderAt, maps []procfs.Mapping) (raised, probed int) {
	t.Helper()
	image, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.file.Sites {
		site := &s.file.Sites[i]
		for _, c := range []struct {
			offset uint64
			size   int
			n      *int
		}{{uint64(site.Offset), codeSize, &probed}, {uint64(site.CounterOffset), 2, &raised}} {
			at, ok := s.place(maps, c.offset)
			got := make([]byte, c.size)
			if _, err := memory.ReadAt(got, int64(at)); !ok || err != nil {
				t.Errorf("%s at offset %#x: mapped %t, %v", s.path, c.offset, ok, err)
			} else if !bytes.Equal(got, image[c.offset:c.offset+uint64(c.size)]) {
				*c.n++
			}
		}
	}
	return raised, probed
}

// settle waits until all processes are calm or gone, and returns how many are left.
func (r *restless) settle(t *testing.T) int {
	t.Helper()
	r.signal(syscall.SIGUSR1)
	last, same := -1, 0
	for range 100 {
		n, _, _, _ := r.look(t)
		if same++; n != last {
			last, same = n, 0
		}
		if same == 5 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return last
}
