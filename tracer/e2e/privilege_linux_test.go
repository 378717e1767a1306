package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/internal/test/talk"
)

const nobody = 65534

// privileges is a directory that everybody can reach, with waymark and a linked program.
func privileges(t *testing.T) (dir string) {
	t.Helper()
	peer.Root(t)
	dir = private(t, waymark(t), allkinds(t, gobuild.Config{}))
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// as runs a command in the directory as a user with these capabilities alone, root with all.
func as(dir string, uid uint32, caps []procfs.Capability, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if uid != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: uid}
	}
	for _, c := range caps {
		cmd.SysProcAttr.AmbientCaps = append(cmd.SysProcAttr.AmbientCaps, uintptr(c))
	}
	return cmd
}

// works checks that a waymark ends well and prints what matches.
func works(t *testing.T, cmd *exec.Cmd, want string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?m)`+want).Match(out) {
		t.Errorf("%q: %v, want %q:\n%s", cmd.Args, err, want, out)
	}
}

// refuses checks that one ends with 1, and prints one error and one hint that match, and at most warnings besides.
func refuses(t *testing.T, cmd *exec.Cmd, text, hint string) {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	want := regexp.MustCompile(`^(waymark: warning: .*\n)*waymark: error: ` + text + "\nwaymark: hint: " + hint + "\n$")
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 || !want.Match(stderr.Bytes()) {
		t.Errorf("%q: %v, want 1 and %s:\n%s", cmd.Args, err, want, &stderr)
	}
}

// waits starts a program that waits and returns its number.
func waits(t *testing.T, dir string, uid uint32, name string) string {
	t.Helper()
	p := talk.Start(t, as(dir, uid, nil, filepath.Join(dir, name), "-hold"))
	p.Expect("ready")
	return fmt.Sprint(p.PID())
}

const (
	setcap   = `run it as root, or once: sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_checkpoint_restore\+ep /\S+/waymark; then everybody may trace who may execute it(; a Go program that imports waymark's agent/auto may be traced by its own user)?`
	counts   = `^10 hits of 10 markers`
	events   = `kinds:signed +i=-1 i8=-8 i16=-16 i32=-32 i64=-64`
	attached = `^waymark: attached to 10 markers at 10 sites`
)

// Whoever lacks capabilities is told exactly which, and whatever works without them works.
func TestCapabilities(t *testing.T) {
	dir := privileges(t)
	run(t, "cp", filepath.Join(dir, "allkinds"), filepath.Join(dir, "deleted"))
	others, own, deleted := waits(t, dir, 0, "allkinds"), waits(t, dir, nobody, "allkinds"), waits(t, dir, 0, "deleted")
	if err := os.Remove(filepath.Join(dir, "deleted")); err != nil {
		t.Fatal(err)
	}
	both := []procfs.Capability{procfs.BPF, procfs.Perfmon}
	for _, test := range []struct {
		args string
		caps []procfs.Capability
		want string // of the error after "!"
	}{
		{"list ./allkinds", nil, `^kinds:signed +i int`},
		{"list -p " + own, nil, `^kinds:signed +i int`},
		{"stat ./allkinds", nil, "!attaching to kinds:none in ./allkinds and 9 more: permission denied: missing CAP_BPF and CAP_PERFMON"},
		{"trace ./allkinds", nil, "!attaching to .*: permission denied: missing CAP_BPF and CAP_PERFMON"},
		{"stat -- ./allkinds", nil, "!attaching to .*: permission denied: missing CAP_BPF and CAP_PERFMON"},
		{"stat --follow -- ./allkinds", nil, "!attaching to .*: permission denied: missing CAP_BPF and CAP_PERFMON"},
		{"stat --by pid -p " + own, nil, "!attaching to .*: permission denied: missing CAP_BPF and CAP_PERFMON"},
		{"latency ./allkinds kinds:none kinds:eight", nil, "!attaching to .*: permission denied: missing CAP_BPF and CAP_PERFMON"},
		{"trace -p " + own, both[:1], "!attaching to .*: permission denied: missing CAP_PERFMON"},
		{"stat -p " + own, both[1:], "!attaching to .*: permission denied: missing CAP_BPF"},
		{"stat -p " + others, nil, "!reading the mappings of process " + others + ": permission denied: missing CAP_SYS_PTRACE"},

		{"stat -- ./allkinds", both, counts},
		{"stat --by cpu -- ./allkinds", both, counts},
		{"stat --follow -- ./allkinds", both, counts},
		{"trace -- ./allkinds", both, events},
		{"trace --where i<0 kinds:signed -- ./allkinds", both, events},
		{"latency kinds:none kinds:eight -- ./allkinds", both, `^1 pair  `},
		{"stat -d 100ms -p " + own, both, attached},
		{"trace -d 100ms -p " + own, both, attached},
		{"stat -d 100ms ./allkinds", both, attached},
		{"stat -p " + deleted, both, `!reading /\S+/deleted \(not in the file system any more\): permission denied: missing CAP_CHECKPOINT_RESTORE`},
		{"stat -d 100ms -p " + deleted, append(both, procfs.SysPtrace, procfs.CheckpointRestore), attached},
		{"stat -d 100ms -p " + others, append(both, procfs.SysPtrace), attached},
	} {
		cmd := as(dir, nobody, test.caps, "./waymark", strings.Fields(test.args)...)
		if text, ok := strings.CutPrefix(test.want, "!"); ok {
			refuses(t, cmd, text, setcap)
		} else {
			works(t, cmd, test.want)
		}
	}
	for args, op := range map[string]string{"add ./allkinds": "defining events", "list": "reading uprobe events", "del sdt_kinds:none": "reading uprobe events"} {
		refuses(t, as(dir, nobody, both, "./waymark", append([]string{"probe"}, strings.Fields(args)...)...), op+": permission denied",
			"tracefs is root's: run it as root")
	}

	// Newer kernels show the mappings of others to CAP_PERFMON, older ones to CAP_SYS_PTRACE only.
	out, err := as(dir, nobody, both, "./waymark", "stat", "-d", "100ms", "-p", others).CombinedOutput()
	if want := "missing CAP_SYS_PTRACE\nwaymark: hint: run it as root"; err != nil && !bytes.Contains(out, []byte(want)) {
		t.Errorf("another user's process: %v, want %q:\n%s", err, want, out)
	}
}

// What is not mounted is missed only by what needs it, which says so.
func TestNotMounted(t *testing.T) {
	dir := privileges(t)
	unshare, setpriv := peer.Need(t, "unshare")[0], peer.Need(t, "setpriv")[0]
	process := waits(t, dir, 0, "allkinds")
	in := func(setup, args string) *exec.Cmd {
		return as(dir, 0, nil, unshare, "-m", "sh", "-ec", setup+"\nexec "+args)
	}
	const noTracefs = "mount -t tmpfs none /sys/kernel/tracing; ! test -d /sys/kernel/debug || mount -t tmpfs none /sys/kernel/debug"
	works(t, in(noTracefs, "./waymark stat -- ./allkinds"), counts)
	works(t, in(noTracefs, "./waymark stat --follow -- ./allkinds"), counts)
	works(t, in(noTracefs, "./waymark trace -- ./allkinds"), events)
	for args, op := range map[string]string{"add ./allkinds": "defining events", "list": "reading uprobe events"} {
		refuses(t, in(noTracefs, "./waymark probe "+args), op+": not supported: tracefs is not mounted", "mount -t tracefs .*")
	}

	const noBTF = "mount -t tmpfs none /sys/kernel/btf"
	works(t, in(noBTF, "./waymark stat -- ./allkinds"), counts)
	works(t, in(noBTF, "./waymark stat --by goroutine -- ./allkinds"), counts)
	works(t, in(noBTF, "./waymark trace --where 'i<0' kinds:signed -- ./allkinds"), events)
	works(t, in(noBTF, "./waymark stat -d 100ms -p "+process), attached)
	for _, verb := range []string{"stat", "trace"} {
		refuses(t, in(noBTF, "./waymark "+verb+" --follow -- ./allkinds"),
			`following processes: not supported: this kernel does not describe its types \(BTF\)`, "it needs CONFIG_DEBUG_INFO_BTF .*")
	}

	const noProc = "mount -t tmpfs none /proc"
	for _, args := range []string{"stat -p " + process, "trace -p " + process, "stat -- ./allkinds"} {
		refuses(t, in(noProc, "./waymark "+args), `looking at process \d+: /proc is not mounted`, "mount -t proc proc /proc")
	}
	refuses(t, in(noProc, "./waymark stat ./allkinds"), "attaching to .*: /proc is not mounted", "mount -t proc proc /proc")

	const hidden = "mount -t proc -o hidepid=2 proc /proc"
	drop := setpriv + " --reuid 65534 --regid 65534 --clear-groups --inh-caps +bpf,+perfmon --ambient-caps +bpf,+perfmon ./waymark "
	works(t, in(hidden, drop+"stat -- ./allkinds"), counts)
	refuses(t, in(hidden, drop+"stat -p "+process),
		`looking at process \d+, which /proc hides \(hidepid\): permission denied: missing CAP_SYS_PTRACE`, setcap)
}
