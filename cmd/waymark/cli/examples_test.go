package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/tracer"
)

// Every command line that a help text or a page of the documentation shows is one that waymark takes: commands, flags, the number of
// arguments, conditions.
func TestExamplesParse(t *testing.T) {
	n := 0
	var each func(*cobra.Command)
	each = func(c *cobra.Command) {
		if c.Example == "" && !c.Hidden && (c.Parent() == nil || c.Parent().Name() != "completion") { // those are cobra's, and say it in words
			t.Errorf("%s has no example", c.CommandPath())
		}
		for line := range strings.SplitSeq(c.Example, "\n") {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "  ") // the comment
			if strings.HasPrefix(line, "waymark ") {
				n++
				if err := parseExample(line); err != nil {
					t.Errorf("%s --help: %s: %v", c.CommandPath(), line, err)
				}
			}
		}
		for _, sub := range c.Commands() {
			each(sub)
		}
	}
	each(newRoot(quietEnv()))
	if n < 60 {
		t.Errorf("%d examples in help texts", n)
	}
	for _, wrong := range []string{"waymark lsit", "waymark list --nope", "waymark snapshot a b", "waymark trace --where 'a = 1' ./x", "waymark trace -d 5 ./x"} {
		if parseExample(wrong) == nil {
			t.Errorf("%s: no error", wrong)
		}
	}
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(err, "no pages")
	}
	n = 0
	shown := regexp.MustCompile(`(?m)^(?:    )?(?:\$ )?(waymark (?:[a-z]+ .*)?)$`)
	// In containers the image or "--" stands before the verb.
	contained := regexp.MustCompile(`(?m)^(?:docker|kubectl) .*(?:waymark:VERSION| --)(?: waymark)? (\w.*)$`)
	for _, page := range append(pages, "../../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		code := contained.ReplaceAllString(codeBlocks(strings.ReplaceAll(string(text), "$shop", "1234")), "waymark $1")
		for _, m := range shown.FindAllStringSubmatch(code, -1) {
			n++
			if err := parseExample(m[1]); err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(page), m[1], err)
			}
		}
	}
	if n < 40 {
		t.Errorf("%d command lines in pages", n)
	}
}

// codeBlocks returns the code blocks of a page: what is fenced, and what is indented by four.
func codeBlocks(page string) string {
	var code strings.Builder
	fenced := false
	for line := range strings.SplitSeq(page, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced, strings.HasPrefix(line, "    "):
			code.WriteString(line + "\n")
		}
	}
	return code.String()
}

func quietEnv() *term.Env {
	return term.NewEnv(term.Streams{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard})
}

func parseExample(line string) error {
	words := shellWords(line)
	root := newRoot(quietEnv())
	cmd, rest, err := root.Find(words[1:])
	if err == nil && cmd == root {
		err = knownCommand(cmd, rest)
	}
	if err == nil && !cmd.DisableFlagParsing {
		if err = cmd.ParseFlags(rest); err == nil {
			err = cmd.ValidateArgs(cmd.Flags().Args())
		}
		if f := cmd.Flags().Lookup("where"); err == nil && f != nil {
			_, err = tracer.CheckWhere(f.Value.String(), nil)
		}
	}
	return err
}

var (
	shellWord  = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`)
	quoted     = regexp.MustCompile(`'([^']*)'|"([^"]*)"`)
	subcommand = regexp.MustCompile(`\$\([^)]*\)`)
)

// shellWords splits a command line as a shell does, up to a comment, a redirection or another command.
func shellWords(line string) (words []string) {
	line = subcommand.ReplaceAllString(line, "1") // pgrep's
	for _, w := range shellWord.FindAllString(line, -1) {
		if w[0] == '#' || w[0] == '<' || w[0] == '>' || w == "|" || w == "&&" {
			break
		}
		words = append(words, quoted.ReplaceAllString(w, "$1$2"))
	}
	return words
}
