package bpf

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// ringPair is a ring with a program that writes into it a number that it is given; odd ones it
// writes and discards.
func ringPair(t *testing.T, size int) (*eventRing, func(uint64)) {
	t.Helper()
	peer.Root(t)
	m, err := newMap(&ebpf.MapSpec{Name: "waymark_test", Type: ebpf.RingBuf, MaxEntries: ringSize(size)})
	if err != nil {
		t.Fatal(err)
	}
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "waymark_test", Type: ebpf.RawTracepoint, License: "Dual MIT/GPL",
		Instructions: asm.Instructions{
			asm.LoadMem(asm.R6, asm.R1, 0, asm.DWord),
			asm.LoadMapPtr(asm.R1, m.FD()), asm.Mov.Imm(asm.R2, 8), asm.Mov.Imm(asm.R3, 0), asm.FnRingbufReserve.Call(),
			asm.JEq.Imm(asm.R0, 0, "full"),
			asm.StoreMem(asm.R0, 0, asm.R6, asm.DWord),
			asm.Mov.Reg(asm.R1, asm.R0), asm.Mov.Imm(asm.R2, 0), asm.And.Imm(asm.R6, 1),
			asm.JNE.Imm(asm.R6, 0, "odd"),
			asm.FnRingbufSubmit.Call(), asm.Mov.Imm(asm.R0, 0), asm.Return(),
			asm.FnRingbufDiscard.Call().WithSymbol("odd"), asm.Mov.Imm(asm.R0, 0), asm.Return(),
			asm.Mov.Imm(asm.R0, 1).WithSymbol("full"), asm.Return(),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := newEventRing(m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(r.close(), prog.Close(), m.Close()); err != nil {
			t.Error(err)
		}
	})
	return r, func(n uint64) {
		context := binary.NativeEndian.AppendUint64(nil, n)
		if full, err := prog.Run(&ebpf.RunOptions{Context: context}); err != nil || full != 0 {
			t.Errorf("writing %d: %d, %v", n, full, err)
		}
	}
}

// numbers reads until it has n records, and waits for them.
func numbers(t *testing.T, r *eventRing, n int) (got []uint64) {
	var batch []byte
	for len(got) < n {
		var err error
		if batch, err = r.take(batch); err != nil {
			t.Fatal(err)
		}
		if len(batch) == 0 {
			if err := r.wait(-1); err != nil {
				t.Fatal(err)
			}
		}
		for record, rest := cutRecord(batch); record != nil; record, rest = cutRecord(rest) {
			got = append(got, binary.NativeEndian.Uint64(record))
		}
	}
	return got
}

// However events and the reader's sleep meet, with pauses about as long as naps: a wake-up that is lost
// would make the reader wait for good.
func TestRingWakes(t *testing.T) {
	for _, size := range []int{4096, 16 << 20} { // with and without naps
		r, write := ringPair(t, size)
		pauses := rand.New(rand.NewPCG(peer.FixedSeed(t, 1), uint64(size)))
		const rounds = 1500
		read := make(chan int)
		go func() {
			for n := uint64(0); n < rounds; {
				burst := 1 + n%3*n%7
				for range burst {
					write(2 * n)
					write(2*n + 1)
					n++
				}
				<-read // a writer that goes on only when its event was read
				if p := pauses.IntN(4); p > 0 {
					time.Sleep(time.Duration(pauses.IntN(2*p*p)) * 150 * time.Microsecond)
				}
			}
			close(read)
		}()
		var all []uint64
		for n := uint64(0); n < rounds; {
			burst := 1 + n%3*n%7
			all = append(all, numbers(t, r, int(burst))...)
			n += burst
			read <- 0
		}
		<-read
		if n := len(all); n < rounds || all[n-1] != uint64(2*(n-1)) || !slices.IsSorted(all) {
			t.Errorf("ring of %d bytes: %d numbers, the last is %d", size, n, all[n-1])
		}
	}
}

// The ring goes round many times, and its reader is behind by all of it at times.
func TestRingGoesRound(t *testing.T) {
	r, write := ringPair(t, 4096)
	next := uint64(0)
	for range 300 {
		const n = 120 // twice 16 bytes each, of 4096
		for i := range uint64(n) {
			write(2 * (next + i))
			write(2*(next+i) + 1)
		}
		for _, got := range numbers(t, r, n) {
			if got != 2*next {
				t.Fatalf("got %d, want %d", got, 2*next)
			}
			next++
		}
	}
}

func TestRingClose(t *testing.T) {
	r, _ := ringPair(t, 4096)
	waited := make(chan error)
	go func() {
		r.wake()
		_ = r.wait(-1) // woken before it began
		waited <- r.wait(-1)
	}()
	time.Sleep(5 * time.Millisecond)
	if err := r.close(); err != nil {
		t.Error(err)
	}
	if err := <-waited; err != nil && !errors.Is(err, os.ErrClosed) {
		t.Errorf("a wait that close ends: %v", err)
	}
	r.wake()
	if _, err := r.take(nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("take after close: %v", err)
	}
	if err := errors.Join(r.close(), r.close()); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

func TestNapOf(t *testing.T) {
	for _, test := range []struct {
		size uint64
		cpus int
		want time.Duration
	}{{4096, 1, 0}, {16 << 20, 2, longestNap}, {16 << 20, 512, 488 * time.Microsecond}, {1 << 20, 64, 0}} {
		got := napOf(test.size, test.cpus)
		if d := got - test.want; d < -50*time.Microsecond || d > 50*time.Microsecond {
			t.Errorf("%d bytes, %d CPUs: %v, want about %v", test.size, test.cpus, got, test.want)
		}
	}
}

func FuzzCutRecord(f *testing.F) {
	f.Add([]byte{8, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 3, 0, 0, 0x40, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0})
	f.Add([]byte{255, 255, 255, 255, 0, 0, 0, 0})
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0, 7})
	f.Fuzz(func(t *testing.T, batch []byte) {
		for len(batch) > 0 {
			record, rest := cutRecord(batch)
			if record == nil {
				return
			}
			if len(rest) > len(batch)-ringHeader-len(record) {
				t.Fatalf("a record of %d bytes and %d behind it of %d", len(record), len(rest), len(batch))
			}
			batch = rest
		}
	})
}
