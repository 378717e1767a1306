package doctor

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/bpf"
)

func TestMain(m *testing.M) {
	bpf.ServeGuard()
	os.Exit(m.Run())
}

// The doctor's own probes are gone when it is done.
func TestCheckSystem(t *testing.T) {
	peer.Root(t)
	file, offset, err := harmless()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	want := make([]byte, 1)
	if _, err := file.ReadAt(want, int64(offset)); err != nil {
		t.Fatal(err)
	}
	c := checks(CheckSystem())
	for _, one := range c {
		if one.Status == Fail {
			t.Errorf("%+v", one)
		}
	}
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	got := make([]byte, 1)
	if _, err := memory.ReadAt(got, int64(reflect.ValueOf(bystander).Pointer())); err != nil || got[0] != want[0] {
		t.Errorf("after the checks the instruction begins with %#x, %v; in the file with %#x", got, err, want)
	}
	if s := c.find(t, "stat"); !strings.Contains(s.Reason, "attached by") {
		t.Errorf("%+v", s)
	}
}

// find returns the check of that name.
func (c checks) find(t *testing.T, name string) Check {
	t.Helper()
	for _, one := range c {
		if one.Name == name {
			return one
		}
	}
	t.Fatalf("no check %q in %+v", name, c)
	return Check{}
}
