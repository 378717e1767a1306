package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/syntax"
)

// bound is a probe with the block that it belongs to.
type bound struct {
	ir.Probe
	block     *syntax.Block
	signature string // equal for points whose fields have the same names and types
	open      bool   // stands for any point
}

// point returns a point whose fields are those of all points of the probe.
func (b *bound) point() *event.Point { return b.Points[0] }

// expand returns the probes of all blocks, with wildcards expanded.
func (c *checker) expand() []*bound {
	var all []*bound
	for _, b := range c.script.Blocks {
		for _, p := range b.Probes {
			all = append(all, c.expandProbe(b, p)...)
			if len(all) > c.config.MaxProbes {
				c.fail(p.Span, fmt.Sprintf("use a narrower pattern, or set max_probes up to %d in the config block", maxProbes),
					"the script has more than %d probes", c.config.MaxProbes)
				return all
			}
		}
	}
	return all
}

func (c *checker) expandProbe(b *syntax.Block, p *syntax.Probe) []*bound {
	parts := make([]string, len(p.Parts))
	for i, part := range p.Parts {
		parts[i] = c.substitute(part)
	}
	one := func(kind ir.ProbeKind, kindName string) []*bound {
		name := p.Provider
		if len(parts) > 0 {
			name += ":" + strings.Join(parts, ":")
		}
		if kind == ir.Begin || kind == ir.End {
			name = strings.ToUpper(name)
		}
		return []*bound{{Probe: ir.Probe{Kind: kind, Name: name, Type: kindName, At: p.Begin}, block: b, signature: fmt.Sprint(kind)}}
	}
	switch p.Provider {
	case "BEGIN", "begin", "END", "end":
		if len(parts) > 0 {
			c.fail(p.Span, "write "+p.Provider+" alone", "%s takes no parts", p.Provider)
		}
		if strings.EqualFold(p.Provider, "begin") {
			return one(ir.Begin, "special")
		}
		return one(ir.End, "special")
	case "interval", "i":
		p.Provider = "interval"
		all := one(ir.Interval, "interval")
		all[0].Period = c.period(p, parts)
		return all
	case "marker":
		if len(parts) == 0 {
			c.fail(p.Span, "such as marker:http:request_start or marker:*", "marker needs a name")
			return nil
		}
		return c.points(b, p, "marker", "marker", strings.Join(parts, ":"), func(q *event.Point) string {
			if q.Provider == kernelProvider {
				return ""
			}
			return q.FullName()
		})
	case "usdt", "U":
		return c.usdt(b, p, parts)
	case "tracepoint", "t":
		if len(parts) != 2 {
			c.fail(p.Span, "such as tracepoint:sched:sched_switch", "tracepoint takes a category and a name")
			return nil
		}
		return c.points(b, p, "tracepoint", "tracepoint", parts[0]+":"+parts[1], func(q *event.Point) string {
			switch q.Provider {
			case kernelProvider:
				return q.Name
			case "": // LTTng's names of the kernel's tracepoints have no category
				return parts[0] + ":" + q.Name
			}
			return ""
		})
	}
	c.refuseProbe(p)
	return nil
}

// kernelProvider is the provider of the kernel's tracepoints in recordings.
const kernelProvider = "kernel"

// usdt expands usdt:FILE:provider:name and usdt:FILE:name. The file is not part of a recorded event.
func (c *checker) usdt(b *syntax.Block, p *syntax.Probe, parts []string) []*bound {
	if len(parts) != 2 && len(parts) != 3 {
		c.fail(p.Span, "such as usdt:/usr/bin/program:provider:name, or usdt:*:provider:name", "usdt takes a file, a provider and a name")
		return nil
	}
	of := func(q *event.Point) string {
		switch {
		case q.Provider == kernelProvider:
			return ""
		case len(parts) == 2:
			return q.Name
		}
		return q.FullName()
	}
	return c.points(b, p, "usdt", "usdt:"+parts[0], strings.Join(parts[1:], ":"), of)
}

// points returns a probe for each point that a pattern matches by the name that of returns; a point without one does not match.
func (c *checker) points(b *syntax.Block, p *syntax.Probe, kind, prefix, pattern string, of func(*event.Point) string) []*bound {
	var all []*bound
	if c.target.Open {
		return []*bound{{Probe: ir.Probe{Kind: ir.Point, Name: prefix + ":" + pattern, Type: kind, At: p.Begin}, block: b, signature: "open", open: true}}
	}
	alike := map[string]*bound{}
	for _, q := range c.target.Points {
		name := of(q)
		if name == "" || !glob(pattern, name) {
			continue
		}
		full := prefix + ":" + q.FullName()
		if kind == "tracepoint" {
			full = prefix + ":" + name
		}
		signature := c.signature(q)
		if same := alike[full+" "+signature]; same != nil {
			same.Points = append(same.Points, q)
			continue
		}
		probe := &bound{Probe: ir.Probe{Kind: ir.Point, Name: full, Type: kind, Points: []*event.Point{q}, At: p.Begin}, block: b, signature: signature}
		alike[full+" "+signature] = probe
		all = append(all, probe)
	}
	if len(all) > 0 {
		return all
	}
	text, hint := fmt.Sprintf("no point matches %s", strings.TrimSpace(c.script.File.Text[p.Begin:p.End])), c.names()
	switch c.config.MissingProbes {
	case "error":
		c.fail(p.Span, hint, "%s", text)
	case "warn":
		c.warn(p.Span, hint, "%s", text)
	}
	return nil
}

// names returns a hint with some names of the target.
func (c *checker) names() string {
	const most = 8
	var names []string
	for _, q := range c.target.Points {
		if name := q.FullName(); !slices.Contains(names, name) {
			if names = append(names, name); len(names) > most {
				names[most] = "…; waymark report --stat TRACE lists all of them"
				break
			}
		}
	}
	if len(names) == 0 {
		return "the trace has no events"
	}
	return "the trace has " + strings.Join(names, ", ")
}

// signature is equal for points whose fields scripts cannot tell apart.
func (c *checker) signature(p *event.Point) string {
	var b strings.Builder
	for _, f := range p.Fields {
		fmt.Fprintf(&b, "%q %d %d %q;", f.Name, f.Kind, f.Elem, f.Unavailable)
	}
	for _, name := range []string{"pid", "tid", "comm", "cpu", "goroutine"} {
		fmt.Fprint(&b, c.target.Has == nil || c.target.Has(p, name))
	}
	return b.String()
}

// glob reports whether a pattern, in which * stands for any characters, matches a name.
func glob(pattern, name string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == name
	}
	if !strings.HasPrefix(name, first) {
		return false
	}
	name = name[len(first):]
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, part)
		}
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(part):], after
	}
}

// substitute replaces positional parameters in a part of a probe.
func (c *checker) substitute(part string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(part, "$")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		n := 0
		for n < len(after) && n < 5 && '0' <= after[n] && after[n] <= '9' {
			n++
		}
		if number, err := strconv.ParseUint(after[:n], 10, 32); err == nil && number > 0 {
			_, text, _ := c.parameter(number)
			b.WriteString(text)
		} else {
			b.WriteString("$" + after[:n])
		}
		part = after[n:]
	}
}

// minPeriod is the shortest interval.
const minPeriod = 1000

// period returns the period of interval:UNIT:N, interval:hz:N or interval:DURATION in nanoseconds.
func (c *checker) period(p *syntax.Probe, parts []string) int64 {
	hint := "such as interval:s:1, interval:ms:100, interval:hz:10 or interval:1s"
	units := map[string]uint64{"us": 1e3, "ms": 1e6, "s": 1e9}
	unit, number := uint64(1), ""
	switch len(parts) {
	case 1:
		number = parts[0]
	case 2:
		unit, number = units[parts[0]], parts[1]
	}
	v, wrong := syntax.ParseInt(number)
	if wrong != "" || v == 0 || unit == 0 && parts[0] != "hz" {
		c.fail(p.Span, hint, "interval takes a unit and a number")
		return 1e9
	}
	period := v * unit
	if unit == 0 {
		period = uint64(1e9) / v
	}
	if unit != 0 && v > 1<<62/unit || period < minPeriod {
		c.fail(p.Span, hint, "an interval is between 1 µs and 146 years")
		return 1e9
	}
	return int64(period)
}
