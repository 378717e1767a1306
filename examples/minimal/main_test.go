package main

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("BE_MINIMAL") == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestRuns(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" || runtime.GOOS == "ios" {
		t.Skip("no processes on " + runtime.GOOS)
	}
	cmd := exec.Command(os.Args[0], "-n", "3")
	cmd.Env = append(os.Environ(), "BE_MINIMAL=1")
	out, err := cmd.CombinedOutput()
	if got, want := strings.TrimSpace(string(out)), "http:request_start 3"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestMarkerIsSound(t *testing.T) {
	var got []int
	p, err := requestStart.Register(func(path string, attempt int) { got = append(got, attempt) })
	if err != nil {
		t.Fatal(err)
	}
	defer p.Unregister()
	if err := requestStart.Arm(); err != nil {
		t.Fatal(err)
	}
	defer requestStart.Disarm()
	requestStart.Mark("/x", 7)
	if len(got) != 1 || got[0] != 7 {
		t.Errorf("the probe got %v, want [7]", got)
	}
}
