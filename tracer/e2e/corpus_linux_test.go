package e2e

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer"
)

// The kernel takes what we make of every operand of other people's programs: all markers of each
// are traced at once. That the notes themselves are read as they are is tested in package sdt.
func TestCorpus(t *testing.T) {
	peer.Root(t)
	for _, path := range peer.Corpus(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			target := tracer.Path(path)
			markers, err := tracer.Find(context.Background(), target)
			if err != nil {
				t.Fatal(err)
			}
			sites := 0
			for _, m := range markers {
				sites += len(m.Sites)
				for _, f := range m.Fields {
					if f.Unavailable != "" {
						t.Errorf("%s, %s: %v", m.FullName(), f.Name, f.Unavailable)
					}
				}
				for _, problem := range m.File.Problems {
					t.Error(problem)
				}
			}
			tr, err := tracer.Trace(target, markers, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := tr.Close(); err != nil {
				t.Error(err)
			}
			t.Logf("%d markers, %d sites", len(markers), sites)
		})
	}
}
