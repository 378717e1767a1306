package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/tracer/link"
)

// buildLine is a command line of go build, without the flags that build handles itself.
type buildLine struct {
	dir     string // of -C, "" for none
	out     string // of -o, "" for none
	overlay string // of -overlay, "" for none; go build gets it too
	args    []string
	help    bool
	link    link.Options
}

// parseBuild takes the flags out of a command line that build handles itself. It knows no others:
// neither their names nor which of them take a value.
func parseBuild(args []string) (*buildLine, error) {
	l := &buildLine{args: args}
	var err error
	l.help = l.takeSwitch("h") || l.takeSwitch("help")
	l.link.Optimize, l.link.NoWatch = l.takeSwitch("optimize"), l.takeSwitch("no-watch")
	if l.out, err = l.takeValue("o"); err != nil {
		return nil, err
	}
	if at, _, _ := l.find("C"); at == 0 { // elsewhere go build refuses it
		if l.dir, err = l.takeValue("C"); err != nil {
			return nil, err
		}
	}
	environment := buildLine{args: strings.Fields(os.Getenv("GOFLAGS"))}
	for _, from := range []*buildLine{l, &environment} {
		if at, value, joined := from.find("overlay"); joined {
			l.overlay = value
		} else if at >= 0 && at+1 < len(from.args) {
			l.overlay = from.args[at+1]
		}
		if l.overlay != "" {
			break
		}
	}
	return l, nil
}

// find returns the index of the last flag of a name, -1 for none, and the value that is joined to
// it by =.
func (l *buildLine) find(name string) (at int, value string, joined bool) {
	at = -1
	for i, arg := range l.args {
		if arg == "--" {
			break
		}
		flag, text, equals := strings.Cut(arg, "=")
		if flag == "-"+name || flag == "--"+name {
			at, value, joined = i, text, equals
		}
	}
	return at, value, joined
}

// takeSwitch removes a flag without a value, and reports whether it is set.
func (l *buildLine) takeSwitch(name string) (set bool) {
	at, value, joined := l.find(name)
	if at < 0 {
		return false
	}
	l.args = slices.Delete(slices.Clone(l.args), at, at+1)
	l.takeSwitch(name) // the last one counts
	return !joined || value == "true"
}

// takeValue removes a flag with a value, and returns the value, "" without such a flag.
func (l *buildLine) takeValue(name string) (string, error) {
	at, value, joined := l.find(name)
	if at < 0 {
		return "", nil
	}
	end := at + 1
	if !joined {
		if end == len(l.args) {
			return "", usage("waymark build --help shows how", "%s needs a value", l.args[at])
		}
		value = l.args[end]
		end++
	}
	l.args = slices.Delete(slices.Clone(l.args), at, end)
	_, err := l.takeValue(name) // the last one counts
	return value, err
}

// goArgs returns the name of a go command and -C, which has to come first.
func (l *buildLine) goArgs(verb string) []string {
	if l.dir == "" {
		return []string{verb}
	}
	return []string{verb, "-C", l.dir}
}

// build returns the arguments of go build with another -o.
func (l *buildLine) build(out string) []string {
	return append(append(l.goArgs("build"), "-o", out), l.args...)
}

// replaced returns the files that -overlay replaces, by path.
func (l *buildLine) replaced() (map[string]string, error) {
	if l.overlay == "" {
		return nil, nil
	}
	text, err := os.ReadFile(l.path(l.overlay))
	if err != nil {
		return nil, fmt.Errorf("-overlay: %w", err)
	}
	var file struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("-overlay %s: %w", l.overlay, err)
	}
	replace := make(map[string]string)
	for from, to := range file.Replace {
		if from, err = filepath.Abs(l.path(from)); err != nil {
			return nil, fmt.Errorf("-overlay %s: %w", l.overlay, err)
		}
		if to != "" {
			to = l.path(to)
		}
		replace[from] = to
	}
	return replace, nil
}

// path returns a path of the command line as it is from here.
func (l *buildLine) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(l.dir, p)
}

// output returns the directory of the result, which it makes, and the name that -o gives it, ""
// where go build chooses.
func (l *buildLine) output() (dir, name string, err error) {
	dir = l.path(l.out)
	if l.out == "" {
		dir = l.path(".")
	} else if info, err := os.Stat(dir); !strings.HasSuffix(l.out, "/") && (err != nil || !info.IsDir()) {
		dir, name = filepath.Split(dir)
		dir = filepath.Clean(dir)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", "", fmt.Errorf("-o %s: %w", l.out, err)
	}
	if name != "" {
		err = checkReplaceable(filepath.Join(dir, name))
	}
	return dir, name, err
}

// checkReplaceable refuses, as go build does, to overwrite a file that no linker wrote.
func checkReplaceable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // not there, or the write reports the reason
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Mode().IsRegular() && info.Size() == 0 {
		return nil
	}
	magic := make([]byte, 4)
	if _, err := io.ReadFull(f, magic); err != nil || !bytes.Equal(magic, []byte("\x7fELF")) {
		return fmt.Errorf("build output %q already exists and is not an object file", path)
	}
	return nil
}
