package kernelevent

import (
	"errors"
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/tracefs"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

var (
	errBits = errors.New("tracefs has no floating-point numbers: it is the bits, in hexadecimal")
	errText = errors.New("tracefs reads text up to a zero byte, which Go's has none of: it is its address and its length")
	errMany = fmt.Errorf("an event of tracefs has at most %d arguments", tracefs.MaxArgs)
)

// eventArgs are the arguments of an event at one place.
type eventArgs struct {
	names   tracefs.ArgNames
	fetch   []string
	remarks []Remark
}

// add adds what fetches an argument, or says why nothing does.
func (a *eventArgs) add(name, fetch string, err error) {
	name = a.names.Unique(name)
	if err == nil && len(a.fetch) == tracefs.MaxArgs {
		err = errMany
	}
	if err != nil {
		a.remarks = append(a.remarks, Remark{name, true, err})
		return
	}
	a.fetch = append(a.fetch, name+"="+fetch)
}

func (a *eventArgs) remark(name string, because error) {
	a.remarks = append(a.remarks, Remark{name, false, because})
}

// argsAt returns the arguments of a site.
func argsAt(m *model.Marker, site int, shift int64) *eventArgs {
	a := &eventArgs{names: tracefs.ArgNames{}}
	if site < len(model.Records(m)) && model.Records(m)[site] != nil && model.Records(m)[site].Typed {
		for i := range model.Records(m)[site].Fields {
			a.addField(&model.Records(m)[site].Fields[i])
		}
		return a
	}
	ops := m.Sites[site].Operands
	for i := range ops {
		name := fmt.Sprintf("arg%d", i+1) // perf's names
		fetch, err := tracefs.Fetch(model.Machine(m.File), &ops[i], shift)
		a.add(name, fetch, err)
		if err == nil && ops[i].Float {
			a.remark(name, errBits)
		}
	}
	return a
}

// addField adds a field of the record that RAX points to. The note has only the first twelve
// operands, and no names.
func (a *eventArgs) addField(f *event.Field) {
	at := func(offset int, typ string) string { return fmt.Sprintf("+%d(%%ax)%s", offset, typ) }
	if f.Kind.HasLength() {
		a.add(f.Name, at(f.Offset, ":x64"), nil)
		a.add(f.Name+"_len", at(f.Offset+8, tracefs.Type(8, true, false)), nil)
		a.remark(f.Name, errText)
		return
	}
	a.add(f.Name, at(f.Offset, tracefs.Type(f.Kind.Size(), f.Kind.Signed(), f.Kind.IsFloat())), nil)
	if f.Kind.IsFloat() {
		a.remark(f.Name, errBits)
	}
}

// signature is equal for places that can be one event: trace_probe_compare_arg_type,
// kernel/trace/trace_probe.c, compares names and types, not where an argument lies.
func signatureOf(args []string) string {
	var b strings.Builder
	for _, arg := range args {
		name, fetch, _ := strings.Cut(arg, "=")
		b.WriteString(name + fetch[strings.LastIndexByte(fetch, ':'):] + " ")
	}
	return b.String()
}
