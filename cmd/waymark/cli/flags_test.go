package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
)

func TestByteSize(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "4096": 4096, "64k": 64 << 10, "16M": 16 << 20, "1G": 1 << 30, "64MB": 64 << 20, "4KiB": 4096, "1gib": 1 << 30, "512B": 512} {
		var s byteSize
		if err := s.Set(text); err != nil || int(s) != want {
			t.Errorf("%s: %d, %v; want %d", text, s, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "2G", "1025M", "1.5M", "M", "1T", "99999999999", "64MBB", "64IB", "64MI B", "iB", "64BM"} {
		var s byteSize
		if err := s.Set(text); err == nil {
			t.Errorf("%q: %d, want an error", text, s)
		}
	}
}

// Help is for terminals of 80 columns.
func TestHelpWidth(t *testing.T) {
	n := 0
	var each func(*cobra.Command)
	each = func(c *cobra.Command) {
		if c.Name() != "completion" && c.Parent() != nil && c.Parent().Name() == "completion" || c.Name() == "help" {
			return // cobra's
		}
		n++
		var out bytes.Buffer
		c.SetOut(&out)
		c.InitDefaultHelpFlag()
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if width := term.Width(strings.TrimRight(line, "\n")); width > 80 {
				t.Errorf("%s --help has a line of %d columns: %s", c.CommandPath(), width, line)
			}
		}
		for _, sub := range c.Commands() {
			each(sub)
		}
	}
	each(Command())
	if n < 20 {
		t.Errorf("%d commands", n)
	}
}
