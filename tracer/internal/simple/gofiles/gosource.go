// Package gofiles finds the source files of a Go program on this machine, and checks that they
// have not changed since the build.
package gofiles

import (
	"errors"
	"fmt"
	"go/build"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// Options say where to look.
type Options struct {
	// Dirs are directories in which modules are: those that the program names without a place
	// (-trimpath), or that have been moved since.
	Dirs []string
	// Work is the working directory, whose module the program may be of.
	Work string
	// Overlay has the files that others were replaced by: go build -overlay.
	Overlay map[string]string
	// Built is when the program was built: what is younger is not what it was built from.
	Built time.Time
}

// Finder finds the files of one program.
type Finder struct {
	info     *debug.BuildInfo
	options  Options
	roots    map[string]string // module path → directory: the first that is known
	modules  map[string]goMod  // by directory
	cache    string            // GOMODCACHE
	goroot   string            // of the build
	verified map[string]error  // directories of modules
}

// File is a source file.
type File struct {
	Name    string // as the compiler named it
	Path    string // where it is now
	Package string // the import path of its package, "" when it is not known
	module  *debug.Module
	root    string // the directory of a module of the cache
}

// maxModFile bounds the go.mod files that are read, in bytes.
const maxModFile = 1 << 20

// New returns a finder for the program that info is of.
func New(info *debug.BuildInfo, o Options) *Finder {
	f := &Finder{info: info, options: o, roots: make(map[string]string), modules: make(map[string]goMod), verified: make(map[string]error)}
	for _, dir := range o.Dirs {
		f.addRoot(dir)
	}
	if o.Work != "" {
		f.addRoot(o.Work)
	}
	f.cache = os.Getenv("GOMODCACHE")
	if paths := filepath.SplitList(build.Default.GOPATH); f.cache == "" && len(paths) > 0 {
		f.cache = filepath.Join(paths[0], "pkg", "mod")
	}
	return f
}

// addRoot notes which module is in a directory, or in the nearest one above it. The first directory of a module counts
// where only the module is known.
func (f *Finder) addRoot(dir string) {
	if p, root := f.rootOf(dir); p != "" && f.roots[p] == "" {
		f.roots[p] = root
	}
}

// rootOf returns the module that a directory is in, and the module's directory. Several directories may have the same
// module: two checkouts of it.
func (f *Finder) rootOf(dir string) (modulePath, root string) {
	dir, err := filepath.Abs(dir)
	for err == nil {
		m, known := f.modules[dir]
		if !known {
			m = readGoMod(filepath.Join(dir, "go.mod"))
			f.modules[dir] = m
		}
		up := filepath.Dir(dir)
		if m.there || up == dir {
			return m.path, dir
		}
		dir = up
	}
	return "", ""
}

// goMod is a go.mod file: the path of the module that it declares.
type goMod struct {
	there bool
	path  string // "" if it cannot be read
}

func readGoMod(name string) (m goMod) {
	info, err := os.Stat(name)
	if m.there = err == nil && info.Mode().IsRegular() && info.Size() <= maxModFile; !m.there {
		return m
	}
	if text, err := os.ReadFile(name); err == nil {
		m.path = modfile.ModulePath(text)
	}
	return m
}

// Distribution notes where the Go distribution was that the program was built with, by the names
// of all its files.
func (f *Finder) Distribution(names []string) {
	for _, n := range names {
		if root, ok := strings.CutSuffix(n, "/src/runtime/proc.go"); ok {
			f.goroot = root
		}
	}
}

// Own reports whether a file is the Go distribution's, by what the compiler called it: such
// files import nothing of ours.
func (f *Finder) Own(name string) bool {
	if filepath.IsAbs(name) {
		return f.goroot != "" && strings.HasPrefix(name, f.goroot+"/src/")
	}
	first, _, _ := strings.Cut(name, "/")
	main, _, _ := strings.Cut(f.info.Main.Path, "/")
	// With -trimpath the packages of the standard library have their import paths.
	return !strings.Contains(first, ".") && first != main && !strings.Contains(first, "@") && f.module(name) == nil && first != "command-line-arguments" && first != "_cgo_gotypes"
}

func (f *Finder) setting(key string) string {
	for _, s := range f.info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// ErrNotFound is what errors wrap that tell of a file that is nowhere.
var ErrNotFound = errors.New("its source is not on this machine")

// Find finds a file by what the compiler called it.
func (f *Finder) Find(name string) (*File, error) {
	file := &File{Name: name}
	var tried []string
	for _, try := range []func(*File) string{f.absolute, f.versioned, f.ofMain, f.moved} {
		file.Path = try(file)
		if file.Path == "" {
			continue
		}
		if replaced, ok := f.options.Overlay[file.Path]; ok {
			file.Path = replaced
		}
		if info, err := os.Stat(file.Path); err == nil && info.Mode().IsRegular() {
			return file, nil
		}
		tried = append(tried, file.Path)
	}
	if tried != nil {
		return nil, fmt.Errorf("%s: %w, not at %s", name, ErrNotFound, strings.Join(tried, " nor "))
	}
	return nil, fmt.Errorf("%s: %w", name, ErrNotFound)
}

// absolute takes the name for a path.
func (f *Finder) absolute(file *File) string {
	if !filepath.IsAbs(file.Name) {
		return ""
	}
	if rel, err := filepath.Rel(f.cache, file.Name); err == nil && filepath.IsLocal(rel) {
		f.inCache(file, filepath.ToSlash(rel), true)
	} else if p, dir := f.rootOf(filepath.Dir(file.Name)); p != "" {
		f.addRoot(dir)
		if rel, err := filepath.Rel(dir, filepath.Dir(file.Name)); err == nil {
			file.Package = path.Join(p, filepath.ToSlash(rel))
			if _, vendored, ok := strings.Cut(file.Package, "/vendor/"); ok {
				file.Package = vendored
			}
		}
	}
	return file.Name
}

// versioned takes the name for one of a module with its version, as -trimpath writes them.
func (f *Finder) versioned(file *File) string {
	if filepath.IsAbs(file.Name) || !strings.Contains(file.Name, "@") {
		return ""
	}
	return f.inCache(file, file.Name, false)
}

// inCache returns the path of a file that is called module@version/rest.
func (f *Finder) inCache(file *File, name string, escaped bool) string {
	before, after, ok := strings.Cut(name, "@")
	if !ok {
		return ""
	}
	version, rest, _ := strings.Cut(after, "/")
	if escaped {
		p, err := module.UnescapePath(before)
		if err != nil {
			return ""
		}
		before = p
	}
	if !filepath.IsLocal(rest) {
		return ""
	}
	file.Package = path.Join(before, path.Dir(rest))
	m := f.module(before)
	if m == nil {
		m = &debug.Module{Path: before, Version: version}
	}
	if dir := f.roots[before]; dir != "" { // who knows where it is has said so
		return filepath.Join(dir, filepath.FromSlash(rest))
	}
	if r := m.Replace; r != nil {
		if r.Version == "" || r.Version == "(devel)" { // a directory
			if r.Path == "" {
				return ""
			}
			dir := filepath.FromSlash(r.Path)
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(f.roots[f.info.Main.Path], dir)
			}
			return filepath.Join(dir, filepath.FromSlash(rest))
		}
		m = r
	}
	p, err := module.EscapePath(m.Path)
	if err != nil {
		return ""
	}
	v, err := module.EscapeVersion(m.Version)
	if err != nil {
		return ""
	}
	root := filepath.Join(f.cache, filepath.FromSlash(p)+"@"+v)
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		if dir := f.roots[f.info.Main.Path]; dir != "" {
			return filepath.Join(dir, "vendor", filepath.FromSlash(before), filepath.FromSlash(rest))
		}
	}
	file.module, file.root = m, root
	return filepath.Join(root, filepath.FromSlash(rest))
}

// module returns the module of the program with a path, or that such a path begins with.
func (f *Finder) module(name string) *debug.Module {
	var best *debug.Module
	for _, m := range append([]*debug.Module{&f.info.Main}, f.info.Deps...) {
		if m.Path != "" && (name == m.Path || strings.HasPrefix(name, m.Path+"/")) && (best == nil || len(m.Path) > len(best.Path)) {
			best = m
		}
	}
	return best
}

// ofMain takes the name for one of a module without a version: the program's own, or another
// of a workspace.
func (f *Finder) ofMain(file *File) string {
	if filepath.IsAbs(file.Name) || strings.Contains(file.Name, "@") {
		return ""
	}
	best := ""
	for p := range f.roots {
		if strings.HasPrefix(file.Name, p+"/") && len(p) > len(best) {
			best = p
		}
	}
	if best == "" {
		return ""
	}
	rest := file.Name[len(best)+1:]
	if !filepath.IsLocal(rest) {
		return ""
	}
	file.Package = path.Dir(file.Name)
	return filepath.Join(f.roots[best], filepath.FromSlash(rest))
}

// moved looks below the directories for the longest end of the name that is a file there.
func (f *Finder) moved(file *File) string {
	elements := strings.Split(filepath.ToSlash(file.Name), "/")
	for i := range elements {
		rest := filepath.Join(elements[i:]...)
		if rest == "" || !filepath.IsLocal(rest) {
			continue
		}
		for _, dir := range f.options.Dirs {
			found := filepath.Join(dir, rest)
			if info, err := os.Stat(found); err == nil && info.Mode().IsRegular() {
				if p, root := f.rootOf(filepath.Dir(found)); p != "" {
					if rel, err := filepath.Rel(root, filepath.Dir(found)); err == nil {
						file.Package = path.Join(p, filepath.ToSlash(rel))
					}
				}
				return found
			}
		}
	}
	return ""
}
