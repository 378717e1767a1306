package marker_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The code in docs/from-the-kernel.md is that of the examples, which run.
func TestCodeOfDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/from-the-kernel.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../*/example*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var examples strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		examples.Write(text)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) == 0 {
		t.Fatal("no code")
	}
	for _, block := range blocks {
		for part := range strings.SplitSeq(block[1], "…\n") {
			if !strings.Contains(examples.String(), strings.TrimSpace(part)) {
				t.Errorf("no example has\n%s", part)
			}
		}
	}
}
