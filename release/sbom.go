package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// billOfMaterials writes an SPDX document of the modules in a binary, and of the Go release, from the list that the
// linker left in it.
func (r release) billOfMaterials(binary, arch string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("waymark_%s_linux_%s", r.number(), arch)
	document := &v2_3.Document{
		SPDXVersion: v2_3.Version, DataLicense: v2_3.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: name,
		DocumentNamespace: homepage + "/releases/" + r.version + "/" + name + ".spdx.json",
		CreationInfo: &v2_3.CreationInfo{
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "waymark-release"}, {CreatorType: "Organization", Creator: "waymark"}},
			Created:  r.date.Format("2006-01-02T15:04:05Z"),
		},
	}
	command := module("waymark", info.Main.Path, r.version)
	command.PackageLicenseDeclared = "Apache-2.0"
	command.PrimaryPackagePurpose = "APPLICATION"
	document.Packages = append(document.Packages, command)
	relate := func(from, to common.ElementID, kind string) {
		document.Relationships = append(document.Relationships, &v2_3.Relationship{
			RefA: common.MakeDocElementID("", string(from)), RefB: common.MakeDocElementID("", string(to)), Relationship: kind,
		})
	}
	relate("DOCUMENT", command.PackageSPDXIdentifier, "DESCRIBES")
	contained := []*v2_3.Package{module("go", "std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, dep := range info.Deps {
		version := dep.Version
		if strings.HasPrefix(dep.Path, "github.com/waymark-trace/waymark") { // built from this tree
			version = r.version
		} else if dep.Replace != nil {
			return fmt.Errorf("module %s is replaced", dep.Path)
		}
		contained = append(contained, module(dep.Path, dep.Path, version))
	}
	for _, p := range contained {
		document.Packages = append(document.Packages, p)
		relate(command.PackageSPDXIdentifier, p.PackageSPDXIdentifier, "CONTAINS")
	}
	text, err := json.MarshalIndent(document, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, name+".spdx.json"), append(text, '\n'), 0o644)
}

// module describes one Go module. Its license is not declared: a bill that guesses is worse than one that does not.
func module(name, path, version string) *v2_3.Package {
	id := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' {
			return c
		}
		return '-'
	}, "Package-"+name+"-"+version)
	return &v2_3.Package{
		PackageName: name, PackageSPDXIdentifier: common.ElementID(id), PackageVersion: version,
		PackageDownloadLocation: "NOASSERTION", PackageLicenseConcluded: "NOASSERTION", PackageLicenseDeclared: "NOASSERTION",
		PackageCopyrightText: "NOASSERTION",
		PackageExternalReferences: []*v2_3.PackageExternalReference{{
			Category: "PACKAGE-MANAGER", RefType: "purl", Locator: "pkg:golang/" + path + "@" + version,
		}},
	}
}
