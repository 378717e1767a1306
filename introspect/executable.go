package introspect

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/waymark-trace/waymark/internal/schema"
)

// executable has the declarations that were read from the file of the process.
type executable struct {
	mu    sync.Mutex
	known map[uintptr]declaration // by address in this process; empty for points that the file does not describe
}

// declaration is the description of one point in the file.
type declaration struct {
	symbol string         // of the variable, with the distance from its start
	schema *schema.Marker // of a marker of a linked file
}

var self executable

// describe completes the points from the executable.
func (x *executable) describe(points []Point) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.lacks(points) {
		known, err := read(points)
		if err != nil {
			return err // the next call tries again
		}
		x.known = known
	}
	for i := range points {
		x.known[points[i].Address].complete(&points[i])
	}
	return nil
}

func (x *executable) lacks(points []Point) bool {
	for _, p := range points {
		if _, ok := x.known[p.Address]; !ok && p.Address != 0 {
			return true
		}
	}
	return false
}

func (d declaration) complete(p *Point) {
	p.Package, p.Variable = splitSymbol(d.symbol)
	if d.schema == nil {
		return
	}
	for i, f := range d.schema.Fields {
		if i < len(p.Fields) && p.Fields[i].Type == "" {
			p.Fields[i].Type, p.Fields[i].Kind = f.Type, f.Kind
		}
	}
	for _, s := range d.schema.Sites {
		p.Sites = append(p.Sites, Site{Function: s.Function, File: s.File, Line: s.Line})
	}
}

// splitSymbol splits "example.org/a/http.start" after the package. The linker escapes the
// dots in the last element of an import path, so the first dot there ends it.
func splitSymbol(symbol string) (pkg, variable string) {
	dir := strings.LastIndexByte(symbol, '/') + 1
	last, variable, _ := strings.Cut(symbol[dir:], ".")
	return strings.ReplaceAll(symbol[:dir]+last, "%2e", "."), variable
}

// read reads the declarations of the points from the executable.
func read(points []Point) (map[uintptr]declaration, error) {
	path, err := executablePath()
	if err != nil {
		return nil, fmt.Errorf("finding this program's executable: %w", err)
	}
	known, err := readPath(path, points)
	if err != nil {
		return nil, fmt.Errorf("reading this program's executable %s: %w", path, err)
	}
	return known, nil
}

// executablePath returns a path of the file that this process runs. On Linux that is the
// file itself, whatever happened to its name since.
func executablePath() (string, error) {
	if runtime.GOOS == "linux" {
		if _, err := os.Stat("/proc/self/exe"); err == nil {
			return "/proc/self/exe", nil
		}
	}
	return os.Executable()
}

func readPath(path string, points []Point) (map[uintptr]declaration, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	o, err := open(runtime.GOOS, f)
	if err != nil {
		return nil, err
	}
	return o.find(points)
}
