package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// planned is what documents say that waymark will have one day, by a word of the line. Whoever
// builds it deletes it here and says there how to use it.
var planned []string

// A document that calls planned what is there keeps people from using it.
func TestPlanned(t *testing.T) {
	files, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "../../../README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "planned") && !slices.ContainsFunc(planned, func(s string) bool { return strings.Contains(line, s) }) {
				t.Errorf("%s: is this really not there yet? %s", filepath.Base(file), line)
			}
		}
	}
}
