package agentconn

import (
	"cmp"
	"context"
	"debug/elf"
	"slices"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/wire"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// Find returns the markers and tracepoints that the agents of a target's processes tell of.
func Find(ctx context.Context, pids []int) (all []*model.Marker, err error) {
	known := map[string]*model.Marker{}
	for _, pid := range pids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := Dial(pid)
		if err != nil {
			return nil, err
		}
		points, err := c.Points()
		c.Close()
		if err != nil {
			return nil, err
		}
		file := model.NewFile(&model.File{Path: c.Executable, Go: c.Go}, elf.EM_NONE, -1)
		for _, p := range points {
			if p.Kind == wire.Marker || p.Kind == wire.Tracepoint {
				m := agentMarker(p, file)
				key := file.Path + "\x00" + model.Declared(m) + "\x00" + m.Format
				if known[key] == nil { // twins are two sites of one
					known[key] = m
					all = append(all, m)
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *model.Marker) int { return cmp.Compare(model.Declared(a), model.Declared(b)) })
	return all, nil
}

func agentMarker(p *wire.Point, file *model.File) *model.Marker {
	m := model.NewDeclared(event.Declared(p.Name, p.Format), file, p.Kind == wire.Tracepoint)
	m.Fields = Fields(p)
	return m
}

// declaredNames returns the names of markers as patterns, each once.
func declaredNames(markers []*model.Marker) []string {
	var names []string
	for _, m := range markers {
		if !slices.Contains(names, model.Declared(m)) {
			names = append(names, model.Declared(m))
		}
	}
	return names
}
