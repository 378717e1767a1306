// Release builds everything that a release consists of, reproducibly: static binaries, packages for Debian, RPM and
// Alpine distributions, a container image, a software bill of materials, and checksums.
//
//	go run . -o DIR VERSION
//
// The same commit, Go release and SOURCE_DATE_EPOCH give the same bytes, in any directory. scripts/release calls it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// A release is one version, being built into one directory.
type release struct {
	version string    // with its v: v1.2.3 or v1.2.3-rc.1
	date    time.Time // of all files in packages and images
	tree    string    // the root of the repository
	out     string
	log     io.Writer
}

var versionForm = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$`)

func main() {
	out := flag.String("o", "dist", "write into `DIR`, which must not exist")
	tree := flag.String("C", "..", "the repository is in `DIR`")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: release [-o DIR] [-C DIR] VERSION")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *tree, *out, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(version, tree, out string, log io.Writer) error {
	if !versionForm.MatchString(version) {
		return fmt.Errorf("version %q is not of the form v1.2.3", version)
	}
	epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return errors.New("SOURCE_DATE_EPOCH must be the time of the commit in seconds; scripts/release sets it")
	}
	r := release{version: version, date: time.Unix(epoch, 0).UTC(), log: log}
	if r.tree, err = filepath.Abs(tree); err != nil {
		return err
	}
	if r.out, err = filepath.Abs(out); err != nil {
		return err
	}
	if err := os.Mkdir(r.out, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "waymark-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	return r.build(work)
}

// architectures are those of GOARCH with a release.
var architectures = []string{"amd64", "arm64"}

// build makes all files of the release. work is a directory for intermediate ones.
func (r release) build(work string) error {
	docs, err := writeDocs(filepath.Join(work, "docs"), r)
	if err != nil {
		return fmt.Errorf("writing man pages and completions: %w", err)
	}
	binaries := map[string]string{}
	for _, arch := range architectures {
		fmt.Fprintln(r.log, "linux/"+arch)
		binary, err := r.compile(work, arch)
		if err != nil {
			return fmt.Errorf("building for %s: %w", arch, err)
		}
		binaries[arch] = binary
		if err := r.archive(binary, arch, docs); err != nil {
			return fmt.Errorf("archive for %s: %w", arch, err)
		}
		if err := r.packages(binary, arch, docs, work); err != nil {
			return fmt.Errorf("packages for %s: %w", arch, err)
		}
		if err := r.billOfMaterials(binary, arch); err != nil {
			return fmt.Errorf("bill of materials for %s: %w", arch, err)
		}
	}
	fmt.Fprintln(r.log, "image")
	if err := r.image(binaries); err != nil {
		return fmt.Errorf("container image: %w", err)
	}
	return r.checksums()
}

// number returns the version without its v, as packages have it.
func (r release) number() string { return r.version[1:] }
