package e2e

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"net/rpc"
	"net/rpc/jsonrpc"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/link"
)

// The value oracle of Go. What waymark's events say of variables is what delve says of the same
// program without optimization, pass for pass, or nothing; and where delve has the right value at the same
// address, waymark has it too, but for what is permitted.
func TestSimpleGoValuesAgreeWithDelve(t *testing.T) {
	peer.Root(t)
	dlv(t)
	for _, version := range gobuild.Versions {
		t.Run(version, func(t *testing.T) {
			plain := &oracle{compiler: version, source: "simplegovalues", level: "-N -l", sum: &tally{permitted: map[string]int{}}}
			plain.compareGo(t, gobuild.Config{Go: version, Flags: []string{"-gcflags=all=-N -l"}})
			if s := plain.sum; s.all < 150 || s.have != s.all || s.refused > 0 {
				t.Errorf("-N -l: %d of %d values and %d markers without a place, want all of 150 or more", s.have, s.all, s.refused)
			}
			for _, c := range []gobuild.Config{{Go: version}, {Go: version, Flags: []string{"-gcflags=-l"}}} {
				o := &oracle{compiler: version, source: "simplegovalues", level: fmt.Sprint(c.Flags), truths: plain.truths, sum: &tally{permitted: map[string]int{}}}
				o.compareGo(t, c)
				s := o.sum
				t.Logf("%v: %d of %d values; delve has %d right ones and %d wrong ones; %d markers have no place; missing, permitted: %v",
					c, s.have, s.all, s.right, s.wrong, s.refused, s.permitted)
				if 5*s.have < 3*s.all {
					t.Errorf("%v: %d of %d values, want three fifths", c, s.have, s.all)
				}
			}
		})
	}
}

// compareGo builds, links, traces and asks delve. Without truths it makes them of what delve says.
func (o *oracle) compareGo(t *testing.T, c gobuild.Config) {
	t.Helper()
	path := gobuild.Build(t, c, "testdata/simplegovalues")
	if _, err := link.File(path, "", link.Options{}); err != nil {
		t.Fatal(err)
	}
	markers, err := tracer.Find(context.Background(), tracer.Path(path))
	if err != nil {
		t.Fatal(err)
	}
	got, want := o.trace(t, program{path, path}), delveValues(t, path, markers)
	if o.truths == nil {
		o.truths = want
	}
	for _, m := range markers {
		name := m.Simple.Name
		g, w, truth := got[name], want[name], o.truths[name]
		if len(m.Sites) == 0 || len(m.Simple.Refused) > 0 {
			o.sum.refused++
			t.Logf("%v: %v", o, m.NoPlace())
			continue
		}
		if len(g) == 0 || len(g) != len(w) || len(g) != len(truth) {
			t.Errorf("%v: %s: %d events, delve stopped %d times, passed %d times", o, name, len(g), len(w), len(truth))
			continue
		}
		madeUp := zeros(w, truth)
		for i := range g {
			for v := range madeUp {
				if g[i].values[v] == "-" {
					w[i].values[v] = "-"
				}
			}
			o.same(t, &g[i], &w[i], &truth[i])
		}
		if len(madeUp) > 0 {
			t.Logf("%v: %s: delve takes for zero what the compiler keeps nowhere: %v", o, name, slices.Sorted(maps.Keys(madeUp)))
		}
	}
}

// zeros returns the variables of a marker for which delve prints a zero in each pass where that is wrong in
// one: parts of strings, slices, interfaces and structures that the compiler keeps nowhere.
func zeros(said, truth []simpleHit) map[string]bool {
	found := map[string]bool{}
	for name := range said[0].values {
		all, wrong := true, false
		for i := range said {
			v := said[i].values[name]
			all = all && slices.Contains([]string{"0", "nil", "text "}, v)
			wrong = wrong || v != truth[i].values[name]
		}
		if all && wrong {
			found[name] = true
		}
	}
	return found
}

// delveValues runs a program under delve, which says what variables are at the places of markers.
func delveValues(t *testing.T, path string, markers []*tracer.Marker) map[string][]simpleHit {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "delve")
	cmd := exec.Command(dlv(t), "exec", "--headless", "--listen=unix:"+socket, "--api-version=2", path)
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill() // it kills what it debugs only when asked to: see Detach
	var client *rpc.Client
	for end := time.Now().Add(time.Minute); client == nil; time.Sleep(50 * time.Millisecond) {
		var err error
		if client, err = jsonrpc.Dial("unix", socket); err != nil && time.Now().After(end) {
			t.Fatalf("delve does not listen: %v", err)
		}
	}
	defer client.Close()
	type object = map[string]any
	call := func(method string, in object, out any) error { return client.Call("RPCServer."+method, in, out) }
	defer call("Detach", object{"Kill": true}, &object{})

	at := map[uint64][]*tracer.Marker{}
	for _, m := range markers {
		for _, p := range m.Simple.Places {
			if at[p.Address] == nil {
				if err := call("CreateBreakpoint", object{"Breakpoint": object{"addr": p.Address}}, &object{}); err != nil {
					t.Fatalf("delve: a breakpoint at %#x: %v", p.Address, err)
				}
			}
			at[p.Address] = append(at[p.Address], m)
		}
	}
	hits := map[string][]simpleHit{}
	for {
		var state struct {
			State struct {
				Exited        bool `json:"exited"`
				CurrentThread struct {
					PC uint64 `json:"pc"`
				} `json:"currentThread"`
			}
		}
		if err := call("Command", object{"name": "continue"}, &state); err != nil {
			t.Fatalf("delve: %v\n%s", err, &out)
		}
		if state.State.Exited {
			return hits
		}
		pc := state.State.CurrentThread.PC
		if at[pc] == nil {
			t.Fatalf("delve stopped at %#x, where nothing is", pc)
		}
		for _, m := range at[pc] {
			h := simpleHit{marker: m.Simple.Name, values: map[string]string{}}
			for _, expr := range m.Simple.Variables {
				var answer struct{ Variable *delveVariable }
				config := object{"FollowPointers": true, "MaxVariableRecurse": 1, "MaxStringLen": 255, "MaxArrayValues": 64, "MaxStructFields": -1}
				err := call("Eval", object{"Scope": object{"GoroutineID": -1, "Frame": 0}, "Expr": expr, "Cfg": config}, &answer)
				if err != nil || answer.Variable == nil {
					h.values[expr] = "-"
					continue
				}
				answer.Variable.into(h.values, expr)
			}
			hits[h.marker] = append(hits[h.marker], h)
		}
	}
}

// delveVariable is a variable as delve's API has it: service/api.Variable.
type delveVariable struct {
	Name       string          `json:"name"`
	Addr       uint64          `json:"addr"`
	Kind       reflect.Kind    `json:"kind"`
	Type       string          `json:"type"`
	Value      string          `json:"value"`
	Len        int64           `json:"len"`
	Base       uint64          `json:"base"`
	Children   []delveVariable `json:"children"`
	Unreadable string          `json:"unreadable"`
}

// into adds a variable, or its members, as the test writes them.
func (v *delveVariable) into(values map[string]string, name string) {
	switch {
	case v.Unreadable != "":
		values[name] = "-"
	case v.Kind == reflect.Struct:
		for i := range v.Children {
			v.Children[i].into(values, name+"."+v.Children[i].Name)
		}
	case v.Kind == reflect.Interface:
		is := "pointer"
		if len(v.Children) == 0 || v.Children[0].Kind == reflect.Invalid {
			is = "nil"
		}
		for _, word := range []string{"tab", "_type", "data"} {
			values[name+"."+word] = is
		}
	case v.Kind == reflect.Slice && len(v.Children) > 0 && v.Children[0].Kind == reflect.String:
		values["len("+name+")"] = fmt.Sprint(v.Len)
	default:
		values[name] = v.canonical()
	}
}

func (v *delveVariable) canonical() string {
	pointer := func(isNil bool) string {
		if isNil {
			return "nil"
		}
		return "pointer"
	}
	switch v.Kind {
	case reflect.Bool:
		return map[string]string{"true": "1", "false": "0"}[v.Value]
	case reflect.Float32, reflect.Float64:
		n, err := strconv.ParseFloat(v.Value, 64)
		if err != nil {
			return "delve says " + v.Value
		}
		return "float " + hex.EncodeToString(binary.LittleEndian.AppendUint64(nil, math.Float64bits(n)))
	case reflect.String:
		return "text " + hex.EncodeToString([]byte(v.Value))
	case reflect.Pointer:
		return pointer(len(v.Children) == 0 || v.Children[0].Addr == 0)
	case reflect.Map, reflect.Func:
		return pointer(v.Base == 0)
	case reflect.Chan:
		return pointer(len(v.Children) == 0)
	case reflect.Array, reflect.Slice:
		var words []string
		var text []byte
		for i := range v.Children {
			c := &v.Children[i]
			if c.Unreadable != "" {
				return "-"
			}
			words = append(words, c.canonical())
			n, _ := strconv.ParseUint(c.Value, 10, 8)
			text = append(text, byte(n))
		}
		if len(v.Children) > 0 && v.Children[0].Type == "uint8" {
			return "text " + hex.EncodeToString(text)
		}
		return "[" + strings.Join(words, " ") + "]"
	}
	value, _, _ := strings.Cut(v.Value, " ")
	return value
}
