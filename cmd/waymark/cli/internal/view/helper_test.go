package view

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// golden compares with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs (-want +got); -update rewrites it:\n%s", path, d)
	}
}

// bufferOutput returns an output into a buffer, and what ends it and returns what was written.
func bufferOutput(t *testing.T) (*term.Output, func() []byte) {
	t.Helper()
	var b bytes.Buffer
	out, err := term.NewEnv(term.Streams{Stdout: &b}).OpenOutput("", false)
	if err != nil {
		t.Fatal(err)
	}
	return out, func() []byte {
		if err := out.Close(); err != nil {
			t.Error(err)
		}
		return b.Bytes()
	}
}
