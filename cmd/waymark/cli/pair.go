package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
)

// pairFlags are what latency and report --latency have in common: how pairs are joined, and grouped.
type pairFlags struct {
	key string
	by  []string
	top int
}

// add defines the flags; of says for what they are, "" where it is clear.
func (f *pairFlags) add(cmd *cobra.Command, of string) {
	flags := cmd.Flags()
	flags.StringVar(&f.key, "key", "", of+"join by `KEY`: goroutine, tid, FIELD or FIELD=FIELD")
	flags.StringSliceVar(&f.by, "by", nil, of+"group by `FIELD`, or several, or by pid, tid, comm, …")
	flags.IntVar(&f.top, "top", 0, of+"show the `N` groups with the most pairs, and the rest")
}

// check refuses values that make no sense, and what --by was once used for.
func (f *pairFlags) check(cmd *cobra.Command) error {
	switch {
	case cmd.Flags().Changed("top") && f.top < 1:
		return term.Usage("such as --top 10", "--top %d is no number of rows", f.top)
	case f.top > 0 && len(f.by) == 0:
		return term.Usage("add --by", "--top is about the rows of --by")
	}
	for i, name := range f.by {
		if strings.Contains(name, "=") {
			return term.Usage(fmt.Sprintf("--key %s joins BEGIN and END by these fields", name), "--by %s: --by groups pairs, and does not join them", name)
		}
		if slices.Contains(f.by[:i], name) {
			return term.Usage("each name once", "--by names %s twice", name)
		}
	}
	return nil
}

// names returns the names of the key on either side.
func (f *pairFlags) names() (key, endKey string) {
	key, endKey, _ = strings.Cut(f.key, "=")
	return key, endKey
}

func (f *pairFlags) table() view.LatencyTable { return view.LatencyTable{By: f.by, Top: f.top} }

// note warns where --by alone would once have joined pairs by what it now groups them by: the numbers differ.
func (f *pairFlags) note(env *term.Env, begin, end []*event.Point, joined string) {
	if f.key != "" || len(f.by) != 1 || !have(begin, f.by[0]) || !have(end, f.by[0]) {
		return
	}
	env.Warning("--by %s groups pairs, which are joined by %s", term.Label(f.by[0]), term.Label(joined))
	env.Hint("--key %s joins them by it; --key %s says that this is as it should be", term.Label(f.by[0]), term.Label(strings.ReplaceAll(joined, "goroutine or thread", "tid")))
}

// have reports whether a name means something for each of the points, of which there are some.
func have(points []*event.Point, name string) bool {
	return len(points) > 0 && !slices.ContainsFunc(points, func(p *event.Point) bool {
		_, ok := source.KeyField(p, name)
		return !ok
	})
}

// pairTitle says what is measured, and how pairs are joined.
func pairTitle(from, to, key, endKey string) string {
	if key != endKey {
		key += " = " + endKey
	}
	return fmt.Sprintf("%s → %s, joined by %s", from, to, term.Label(key))
}
