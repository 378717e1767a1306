package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/mod/modfile"
)

// versionVariable is set at link time to the version that the command prints.
const versionVariable = "github.com/waymark-trace/waymark/cmd/waymark/cli.release"

// compile builds the command for an architecture, and returns the binary's path. Nothing in it depends on the machine,
// the directory or the checkout: no cgo, paths trimmed, no stamp of the version control.
func (r release) compile(work, arch string) (string, error) {
	path := filepath.Join(work, arch, "waymark")
	workspace, err := r.workspace(work)
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X "+versionVariable+"="+r.version, "-o", path, "./cmd/waymark")
	cmd.Dir = r.tree
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOWORK="+workspace)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
}

// shipped are the modules that the command consists of, by their directories.
var shipped = []string{"", "tracer", "vet", "cmd/waymark"}

// workspace writes a go.work of the shipped modules. That of the tree has others too, which would raise the versions
// of its dependencies.
func (r release) workspace(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(r.tree, "go.work"))
	if err != nil {
		return "", err
	}
	tree, err := modfile.ParseWork("go.work", text, nil)
	if err != nil {
		return "", err
	}
	own := modfile.WorkFile{Syntax: new(modfile.FileSyntax)}
	if err := own.AddGoStmt(tree.Go.Version); err != nil {
		return "", err
	}
	for _, module := range shipped {
		if err := own.AddUse(filepath.Join(r.tree, module), ""); err != nil {
			return "", err
		}
	}
	for _, replace := range tree.Replace {
		if err := own.AddReplace(replace.Old.Path, replace.Old.Version, filepath.Join(r.tree, replace.New.Path), ""); err != nil {
			return "", err
		}
	}
	path := filepath.Join(dir, "go.work")
	return path, os.WriteFile(path, modfile.Format(own.Syntax), 0o644)
}

// A file is one file of a package or an archive.
type file struct {
	source string
	target string // the absolute path where packages install it
	mode   os.FileMode
}

// files returns the files that packages and archives have in common.
func (r release) files(binary string, docs []file) []file {
	return append([]file{{binary, "/usr/bin/waymark", 0o755}}, docs...)
}

// archive writes a tar file for systems without one of the package formats.
func (r release) archive(binary, arch string, docs []file) (err error) {
	name := fmt.Sprintf("waymark_%s_linux_%s", r.number(), arch)
	f, err := os.Create(filepath.Join(r.out, name+".tar.gz"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z := gzip.NewWriter(f)
	w := tar.NewWriter(z)
	license := file{filepath.Join(r.tree, "LICENSE"), "/usr/LICENSE", 0o644}
	for _, file := range append(r.files(binary, docs), license) {
		if err := r.add(w, name+file.target[len("/usr"):], file); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), z.Close())
}

// add adds a file to an archive, with no trace of the builder.
func (r release) add(w *tar.Writer, name string, file file) error {
	in, err := os.Open(file.source)
	if err != nil {
		return err
	}
	defer in.Close()
	stat, err := in.Stat()
	if err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: stat.Size(), Mode: int64(file.mode), ModTime: r.date}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(w, in)
	return err
}
