package gofiles

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/dirhash"
)

// Verify reports what speaks against a file being what the program was built from. That of a
// module is held against the hash that the program has of it. Any other must be older than the
// program, or be what the program's commit has, if that had no changes.
func (f *Finder) Verify(file *File) error {
	if file.module != nil && file.module.Sum != "" {
		return f.verifyModule(file)
	}
	info, err := os.Stat(file.Path)
	if err != nil {
		return err
	}
	if !info.ModTime().After(f.options.Built) || f.committed(file.Path) {
		return nil
	}
	return fmt.Errorf("%s was changed at %s, after the program was built at %s", file.Path,
		info.ModTime().Format(time.DateTime), f.options.Built.Format(time.DateTime))
}

func (f *Finder) verifyModule(file *File) error {
	err, known := f.verified[file.root]
	if !known {
		var sum string
		sum, err = dirhash.HashDir(file.root, file.module.Path+"@"+file.module.Version, dirhash.Hash1)
		if err == nil && sum != file.module.Sum {
			err = fmt.Errorf("%s was changed: its hash is %s, that of the module in the program %s", file.root, sum, file.module.Sum)
		}
		f.verified[file.root] = err
	}
	return err
}

// gitTime bounds how long git may take.
const gitTime = 10 * time.Second

// committed reports whether a file is what it was in the commit that the program is of.
func (f *Finder) committed(path string) bool {
	revision := f.setting("vcs.revision")
	if f.setting("vcs") != "git" || f.setting("vcs.modified") != "false" || revision == "" || strings.Trim(revision, "0123456789abcdef") != "" {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), gitTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "-C", filepath.Dir(path), "diff", "--quiet", "--no-ext-diff", "--no-textconv", revision, "--", filepath.Base(path))
	cmd.WaitDelay = time.Second
	return cmd.Run() == nil
}
