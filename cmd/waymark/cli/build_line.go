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

	"github.com/waymark-trace/waymark/internal/link"
	"github.com/waymark-trace/waymark/internal/simplesource"
)

// buildLine is a command line of go build, taken apart as far as build has to know it.
type buildLine struct {
	dir      string   // of -C, "" for none
	out      string   // of -o, "" for none
	flags    []string // the others, as they were
	packages []string
	help     bool
	dryRun   bool // -n
	link     link.Options
}

// valued are the flags of go build that take a value, which may be an argument of its own.
// Every other flag is a switch, or go build says that there is no such flag.
var valued = []string{
	"C", "o", "p", "asmflags", "buildmode", "compiler", "covermode", "coverpkg", "debug-actiongraph",
	"debug-runtime-trace", "debug-trace", "gccgoflags", "gcflags", "installsuffix", "ldflags", "mod", "modfile",
	"overlay", "pgo", "pkgdir", "tags", "toolexec",
}

func parseBuild(args []string) (*buildLine, error) {
	var l buildLine
	for len(args) > 0 {
		arg := args[0]
		if arg == "--" {
			args = args[1:]
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			break
		}
		name, value, joined := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		taken := 1
		if !joined && slices.Contains(valued, name) {
			if len(args) < 2 {
				return nil, usage("waymark build --help shows how", "%s needs a value", arg)
			}
			value, taken = args[1], 2
		}
		switch name {
		case "h", "help":
			l.help = true
		case "o":
			l.out = value
		case "C":
			l.dir = value
		case "optimize":
			l.link.Optimize = !joined || value == "true"
		case "no-watch":
			l.link.NoWatch = !joined || value == "true"
		case "n":
			l.dryRun = !joined || value == "true"
			fallthrough
		default:
			l.flags = append(l.flags, args[:taken]...)
		}
		args = args[taken:]
	}
	l.packages = args
	return &l, nil
}

// head returns the go command's name and -C, which has to come first.
func (l *buildLine) head(verb string) []string {
	if l.dir == "" {
		return []string{verb}
	}
	return []string{verb, "-C", l.dir}
}

// args returns the arguments of go build with another -o.
func (l *buildLine) args(out string) []string {
	args := l.head("build")
	if out != "" {
		args = append(args, "-o", out)
	}
	args = append(args, l.flags...)
	return append(append(args, "--"), l.packages...)
}

// usesSimple stands ahead of packages that need package simple.
const usesSimple = "+"

// listArgs returns the arguments of go list that print path and name of each package. It
// takes the flags of go build, since tags and modules decide what a package is; those that
// only print are left out.
func (l *buildLine) listArgs() []string {
	args := append(l.head("list"), "-f", `{{range .Deps}}{{if eq . "`+simplesource.Path+`"}}`+usesSimple+"{{end}}{{end}}{{.ImportPath}}\t{{.Name}}")
	for i := 0; i < len(l.flags); i++ {
		name, _, joined := strings.Cut(strings.TrimLeft(l.flags[i], "-"), "=")
		own := l.flags[i : i+1]
		if !joined && slices.Contains(valued, name) {
			own = l.flags[i : i+2]
			i++
		}
		if !slices.Contains([]string{"v", "x", "json", "work", "a"}, name) && !strings.HasPrefix(name, "debug-") {
			args = append(args, own...)
		}
	}
	return append(append(args, "--"), l.packages...)
}

// overlay returns the files that -overlay replaces, by path.
func (l *buildLine) overlay() (map[string]string, error) {
	name := ""
	flags := slices.Concat(strings.Fields(os.Getenv("GOFLAGS")), l.flags)
	for i, f := range flags {
		switch flag, value, joined := strings.Cut(strings.TrimLeft(f, "-"), "="); {
		case flag != "overlay" || !strings.HasPrefix(f, "-"):
		case joined:
			name = value
		case i+1 < len(flags):
			name = flags[i+1]
		}
	}
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(l.path(name))
	if err != nil {
		return nil, fmt.Errorf("-overlay: %w", err)
	}
	var file struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("-overlay %s: %w", name, err)
	}
	replace := make(map[string]string)
	for from, to := range file.Replace {
		if from, err = filepath.Abs(l.path(from)); err != nil {
			return nil, fmt.Errorf("-overlay %s: %w", name, err)
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

// suffix is what programs for GOOS end with.
func (*buildLine) suffix() string {
	if os.Getenv("GOOS") == "windows" {
		return ".exe"
	}
	return ""
}

// output returns the path of the result for a program called name, and makes the directory
// that -o asks for.
func (l *buildLine) output(name string) (string, error) {
	out := l.out
	if out == "" {
		out = name
	}
	if !filepath.IsAbs(out) {
		out = filepath.Join(l.dir, out) + trailingSlash(out)
	}
	info, err := os.Stat(out)
	switch {
	case trailingSlash(out) != "", err == nil && info.IsDir():
		if err := os.MkdirAll(out, 0o777); err != nil {
			return "", fmt.Errorf("-o %s: %w", l.out, err)
		}
		out = filepath.Join(out, name)
	case filepath.Dir(out) != ".":
		if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
			return "", fmt.Errorf("-o %s: %w", l.out, err)
		}
	}
	return out, checkReplaceable(out)
}

func trailingSlash(path string) string {
	if strings.HasSuffix(path, "/") {
		return "/"
	}
	return ""
}

// checkReplaceable refuses, as go build does, to overwrite what no linker wrote.
func checkReplaceable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // not there, or writing it says what is wrong
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
