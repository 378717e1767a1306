package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/apk"
	"github.com/goreleaser/nfpm/v2/deb"
	nfpmfiles "github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

const (
	summary    = "static tracing for Go, and for programs with SDT markers"
	homepage   = "https://github.com/waymark-trace/waymark"
	maintainer = "Waymark Maintainers <waymark-trace@users.noreply.github.com>"
)

const description = `static tracing for Go, and for programs with SDT markers
 waymark lists, counts and traces the markers of running programs, and
 measures the time between them: of Go programs with package marker, and of
 everything else that has SDT markers, such as PostgreSQL and Python.
 .
 Tracing through the kernel needs root or CAP_BPF and CAP_PERFMON. Go programs
 that import the agent can be traced by their own user.`

// packages writes a .deb, an .rpm and an .apk.
func (r release) packages(binary, arch string, docs []file, work string) error {
	for format, packager := range map[string]nfpm.Packager{"deb": deb.Default, "rpm": rpm.DefaultRPM, "apk": apk.Default} {
		info, err := r.info(binary, arch, format, docs, work)
		if err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
		if err := r.write(packager, info); err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
	}
	return nil
}

// info describes a package. Version numbers become those of the format: v1.2.3-rc.1 is 1.2.3~rc.1, before 1.2.3.
func (r release) info(binary, arch, format string, docs []file, work string) (*nfpm.Info, error) {
	info := &nfpm.Info{
		Name: "waymark", Arch: arch, Platform: "linux", Version: r.version, VersionSchema: "semver", Release: "1",
		Section: "devel", Priority: "optional", Maintainer: maintainer, Description: description,
		Vendor: "waymark", Homepage: homepage, License: "Apache-2.0", MTime: r.date,
	}
	if format != "deb" { // lines of a description begin with a blank in Debian's format alone
		info.Description = strings.ReplaceAll(strings.ReplaceAll(description, "\n .\n", "\n\n"), "\n ", "\n")
	}
	info.RPM.Summary = summary
	info.RPM.BuildHost = "localhost"
	info.RPM.Group = "Development/Debuggers"
	license, err := r.license(format, work)
	if err != nil {
		return nil, err
	}
	all := append(r.files(binary, docs), license...)
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.target, b.target) })
	for _, f := range all {
		info.Contents = append(info.Contents, &nfpmfiles.Content{
			Source: f.source, Destination: f.target,
			FileInfo: &nfpmfiles.ContentFileInfo{Mode: f.mode, MTime: r.date, Owner: "root", Group: "root"},
		})
	}
	info = nfpm.WithDefaults(info)
	return info, nfpm.PrepareForPackager(info, format)
}

// license returns the license as each format wants it. Debian's has the reason for a static binary in it too.
func (r release) license(format, work string) ([]file, error) {
	text := filepath.Join(r.tree, "LICENSE")
	switch format {
	case "rpm":
		return []file{{text, "/usr/share/licenses/waymark/LICENSE", 0o644}}, nil
	case "apk":
		return []file{{text, "/usr/share/doc/waymark/LICENSE", 0o644}}, nil
	}
	var files []file
	for target, content := range map[string][]byte{
		"/usr/share/doc/waymark/copyright":           []byte(copyright),
		"/usr/share/doc/waymark/changelog.Debian.gz": compressed([]byte(r.debianChangelog())),
		"/usr/share/lintian/overrides/waymark":       []byte(overrides),
	} {
		path := filepath.Join(work, "debian-"+filepath.Base(target))
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return nil, err
		}
		files = append(files, file{path, target, 0o644})
	}
	return files, nil
}

const copyright = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: waymark
Source: ` + homepage + `

Files: *
Copyright: 2026 the waymark authors
License: Apache-2.0
 On Debian systems, the complete text of the Apache License, Version 2.0,
 can be found in /usr/share/common-licenses/Apache-2.0.
`

const overrides = `# Go programs contain all that they need; the command works in any container and on any distribution.
waymark: statically-linked-binary
`

func (r release) debianChangelog() string {
	version := strings.Replace(r.number(), "-", "~", 1)
	return fmt.Sprintf("waymark (%s-1) unstable; urgency=medium\n\n  * Release %s, see changelog.gz.\n\n -- %s  %s\n",
		version, r.version, maintainer, r.date.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
}

// write writes one package under its conventional name.
func (r release) write(packager nfpm.Packager, info *nfpm.Info) (err error) {
	f, err := os.Create(filepath.Join(r.out, packager.ConventionalFileName(info)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return packager.Package(info, io.Writer(f))
}
