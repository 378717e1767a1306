package check

import (
	"strings"

	"github.com/waymark-trace/waymark/tracer/internal/script/syntax"
)

// What bpftrace has and this language lacks, by name, with what to write instead. docs/from-bpftrace.md lists all of them.

const (
	useMarker = "trace a marker: marker:provider:name or usdt:FILE:provider:name"
	noKernel  = "trace a marker or a tracepoint of the kernel: a field of it may have the value"
	useField  = "use a field that has the value: args.NAME"
)

// RefusedProbes are providers.
var RefusedProbes = map[string]string{
	"kprobe": useMarker, "k": useMarker, "kretprobe": useMarker, "kr": useMarker,
	"uprobe": useMarker, "u": useMarker, "uretprobe": useMarker, "ur": useMarker,
	"fentry": useMarker, "fexit": useMarker, "kfunc": useMarker, "kretfunc": useMarker, "f": useMarker, "fr": useMarker,
	"rawtracepoint": "use tracepoint:category:name", "rt": "use tracepoint:category:name",
	"software": useMarker, "s": useMarker, "hardware": useMarker, "h": useMarker,
	"watchpoint": useMarker, "w": useMarker, "asyncwatchpoint": useMarker, "aw": useMarker,
	"iter": "use interval:s:1", "it": "use interval:s:1",
	"self": "end the script with Ctrl-C, and print in END", "test": "use waymark run --trace on a recording as a test", "bench": "use waymark run --explain",
	"profile": "a recording has no samples of running processors: use interval:s:1", "p": "a recording has no samples of running processors: use interval:s:1",
}

// RefusedWords are built-in values.
var RefusedWords = map[string]string{
	"args":   "name a field: args.NAME",
	"retval": "trace a marker at the end of the function", "func": useField, "ctx": useField, "curtask": noKernel, "usermode": noKernel,
	"uid": noRecording, "gid": noRecording, "username": noRecording, "cgroup": noRecording, "kstack": noRecording, "ustack": noRecording,
	"rand": "the result would differ on every run; key by a field", "ncpus": "write the number", "numaid": noKernel,
	"jiffies": "use nsecs", "cpid": "pass the number as $1", "has_cpid": "pass the number as $1", "ppid": useField, "pcomm": useField,
	"leader_comm": useField, "leader_tid": useField, "default_str_length": "write the number",
}

// noRecording is the hint for what recordings do not have.
const noRecording = "a recording does not have it: " + useField

// RefusedCalls are functions.
var RefusedCalls = map[string]string{
	"join":   "a recording has no array of pointers: print the fields one by one",
	"kstack": noRecording, "ustack": noRecording, "dw_ustack": noRecording, "ksym": noRecording, "usym": noRecording, "kaddr": noKernel, "uaddr": useField,
	"username": noRecording, "cgroupid": noRecording, "cgroup_path": noRecording, "uid": noRecording, "gid": noRecording,
	"reg": useField, "signal": "trace only: nothing here changes a program", "signal_thread": "trace only: nothing here changes a program",
	"override": "trace only: nothing here changes a program", "write_user": "trace only: nothing here changes a program",
	"cat": `write system("cat FILE") and run it with --unsafe`, "ntop": useField, "pton": useField, "macaddr": useField, "path": useField,
	"strerror": "print the number", "syscall_name": "print the number", "signal_name": "print the number",
	"kptr": useField, "uptr": useField, "kfunc_allowed": useMarker, "kfunc_exist": useMarker, "percpu_kaddr": noKernel,
	"skboutput": noKernel, "socket_cookie": useField, "bswap": "use shifts", "memcmp": "compare with == or strncmp",
	"assert": "use if and exit(1)", "assert_str": "use if and exit(1)", "fail": "use errorf", "static_assert": "use if and exit(1)", "unwatch": useMarker,
	"container_of": useField, "str_concat": "print the texts one after the other, or use a tuple", "strcap": "write the number",
	"strlen": "compare the text itself, or use strncmp", "strstr": "use strcontains", "find": "use has_key, then @map[key]", "config": "write a config block",
	"is_array": typed, "is_err": typed, "is_integer": typed, "is_literal": typed, "is_ptr": typed, "is_str": typed, "is_unsigned_integer": typed,
	"sizeof": "write the number", "offsetof": useField, "typeof": "write the name of the type", "comm": "write comm: the name of another process is not known",
	"pid": "write pid: it is the number in the PID namespace of waymark, in a recording that of the recording", "tid": "write tid: it is the number in the PID namespace of waymark, in a recording that of the recording",
}

const typed = "waymark run --explain prints the types"

// refuseProbe reports a provider that does not exist here.
func (c *checker) refuseProbe(p *syntax.Probe) {
	if hint, ok := RefusedProbes[p.Provider]; ok {
		c.fail(p.Span, hint, "probe %s is not part of the language", p.Provider)
		return
	}
	c.fail(p.Span, "there is BEGIN, END, interval, marker, usdt and tracepoint", "unknown probe %s", p.Provider)
}

// refuseWord reports a name that does not exist here.
func (k *code) refuseWord(x *syntax.Expr, name string) {
	if hint, ok := RefusedWords[name]; ok {
		k.fail(x.Span, hint, "%s is not part of the language", name)
		return
	}
	if _, ok := functions[name]; ok {
		k.fail(x.Span, "write "+name+"(…)", "function %s without parentheses", name)
		return
	}
	if strings.HasPrefix(name, "sarg") || strings.HasPrefix(name, "reg") {
		k.fail(x.Span, useField, "%s is not part of the language", name)
		return
	}
	k.fail(x.Span, "a field is args."+name+", a variable $"+name+", a map @"+name, "unknown name %s", name)
}

// refuseCall reports a function that does not exist here.
func (k *code) refuseCall(x *syntax.Expr) {
	if hint, ok := RefusedCalls[x.Name]; ok {
		k.fail(x.Span, hint, "%s() is not part of the language", x.Name)
		return
	}
	if hint, ok := RefusedWords[x.Name]; ok {
		k.fail(x.Span, hint, "%s() is not part of the language", x.Name)
		return
	}
	k.fail(x.Span, "docs/script.md lists the functions", "unknown function %s", x.Name)
}
