package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/tracer"
)

func TestReport(t *testing.T) {
	permission := &tracer.PermissionError{Op: "attaching to a:b", Capability: "CAP_BPF", Err: syscall.EPERM}
	tests := []struct {
		err    error
		status int
		want   string
	}{
		{nil, 0, ""},
		{fmt.Errorf("writing: %w", syscall.EPIPE), 0, ""},
		{term.StatusFailure(7), 7, ""},
		{context.Canceled, 130, ""},
		{term.Usage("this way", "no %s", "sense"), 2, "error: no sense\nhint: this way\n"},
		{errors.New("a\x1b[2Jb"), 1, "error: a\\x1b[2Jb\n"},
		{errors.Join(errors.New("one"), errors.New("two")), 1, "error: one\nerror: two\n"},
		{term.WithHint(io.EOF, "try %d", 2), 1, "error: EOF\nhint: try 2\n"},
		{fmt.Errorf("x: %w", tracer.ErrNoProcess), 1, "error: x: no such process\nhint: waymark list shows the running processes that have markers\n"},
		{permission, 1, "error: attaching to a:b: permission denied: missing CAP_BPF\nhint: run it as root, or give waymark the capability: setcap cap_bpf+ep waymark\n"},
		{&tracer.PermissionError{Op: "x", Hint: "do this."}, 1, "error: x: permission denied\nhint: do this\n"},
		{&tracer.PermissionError{Op: "x"}, 1, "error: x: permission denied\nhint: run it as root\n"},
		{&tracer.NoMatchError{Pattern: "z*"}, 1, "error: no marker matches \"z*\"\nhint: there are no markers\n"},
		{&tracer.NoMatchError{Pattern: "z*", Available: []string{"a:b", "a:\x1bc"}, Total: 2}, 1, "error: no marker matches \"z*\"\nhint: there is a:b and a:\\x1bc\n"},
		{&tracer.NoMatchError{Pattern: "z*", Available: []string{"a:b", "a:c"}, Total: 9}, 1, "error: no marker matches \"z*\"\nhint: there is a:b, a:c, and 7 more that waymark list shows\n"},
	}
	for _, tt := range tests {
		var b bytes.Buffer
		if got := exitStatus(term.NewEnv(term.Streams{Stderr: &b}), tt.err); got != tt.status {
			t.Errorf("%v: status %d, want %d", tt.err, got, tt.status)
		}
		if d := cmp.Diff(tt.want, strings.ReplaceAll(b.String(), "waymark: ", "")); d != "" {
			t.Errorf("%v (-want +got):\n%s", tt.err, d)
		}
	}
}
