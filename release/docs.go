package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/waymark-trace/waymark/cmd/waymark/cli"
)

// writeDocs writes man pages, completions, the license and the changelog into a directory.
func writeDocs(dir string, r release) ([]file, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root := cli.Command()
	pages, err := manPages(root, r)
	if err != nil {
		return nil, err
	}
	var files []file
	put := func(name, target string, content []byte) error {
		path := filepath.Join(dir, name)
		files = append(files, file{path, target, 0o644})
		return os.WriteFile(path, content, 0o644)
	}
	for name, text := range pages {
		if err := put(name+".gz", "/usr/share/man/man1/"+name+".gz", compressed(text)); err != nil {
			return nil, err
		}
	}
	for _, shell := range []struct {
		target string
		write  func(*bytes.Buffer) error
	}{
		{"/usr/share/bash-completion/completions/waymark", func(b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) }},
		{"/usr/share/zsh/vendor-completions/_waymark", func(b *bytes.Buffer) error { return root.GenZshCompletion(b) }},
		{"/usr/share/fish/vendor_completions.d/waymark.fish", func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) }},
	} {
		var b bytes.Buffer
		if err := shell.write(&b); err != nil {
			return nil, err
		}
		if err := put(filepath.Base(filepath.Dir(shell.target)), shell.target, b.Bytes()); err != nil {
			return nil, err
		}
	}
	changes, err := os.ReadFile(filepath.Join(r.tree, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	err = put("changelog.gz", "/usr/share/doc/waymark/changelog.gz", compressed(changes))
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.target, b.target) })
	return files, err
}

// manPages returns the pages of the command and of its verbs by their file names.
func manPages(root *cobra.Command, r release) (map[string][]byte, error) {
	pages := map[string][]byte{}
	var each func(*cobra.Command) error
	each = func(c *cobra.Command) error {
		if c.Name() == "help" || !c.IsAvailableCommand() && c != root {
			return nil
		}
		var b bytes.Buffer
		title := strings.ToUpper(strings.ReplaceAll(c.CommandPath(), " ", "-"))
		header := &doc.GenManHeader{Title: title, Section: "1", Date: &r.date, Source: "waymark " + r.number(), Manual: "User Commands"}
		if err := doc.GenMan(c, header, &b); err != nil {
			return fmt.Errorf("%s: %w", c.CommandPath(), err)
		}
		pages[strings.ToLower(title)+".1"] = b.Bytes()
		for _, sub := range c.Commands() {
			if err := each(sub); err != nil {
				return err
			}
		}
		return nil
	}
	root.DisableAutoGenTag = true
	for _, c := range root.Commands() {
		c.DisableAutoGenTag = true
	}
	return pages, each(root)
}

// compressed returns content as gzip -9n writes it: without a name or a time.
func compressed(content []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid, and a buffer takes all
	_, _ = z.Write(content)
	_ = z.Close()
	return b.Bytes()
}
