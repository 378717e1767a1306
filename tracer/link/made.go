package link

import (
	"bytes"
	"debug/gosym"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/waymark-trace/waymark/internal/markerabi"
)

// made returns the places, FILE:LINE, of code that makes a marker while the program runs: one in
// a function, or one whose name or format is not a constant. Such a marker is not in the file's
// data, where link looks.
//
// The compiler puts the New function into its caller, so that the marker's magic is an immediate
// operand there, or calls it.
func (img *image) made(funcs *gosym.Table, text []byte) (places []string) {
	news := make(map[uint64]bool)
	for i := range funcs.Funcs {
		if newFunction.MatchString(funcs.Funcs[i].Name) {
			news[funcs.Funcs[i].Entry] = true
		}
	}
	c := newCode(img, funcs)
	scanned := make(map[uint64]bool)
	budget := 2 * len(text) // functions overlap in hostile files only
	scan := func(fn *gosym.Func) error {
		if fn == nil || scanned[fn.Entry] || isOwn(fn.Name) {
			return nil
		}
		scanned[fn.Entry] = true
		if budget -= int(min(fn.End-fn.Entry, maxFunction)); budget >= 0 {
			places = append(places, c.made(fn, news)...)
		}
		return nil
	}
	var magic [8]byte
	le.PutUint64(magic[:], markerabi.MarkerMagic0)
	for at := 0; ; at++ {
		i := bytes.Index(text[at:], magic[:])
		if i < 0 {
			break
		}
		at += i
		_ = scan(funcs.PCToFunc(img.anchor.text + uint64(at)))
	}
	if len(news) > 0 {
		_ = img.references(funcs, text, func(to uint64) bool { return news[to] }, scan)
	}
	return places
}

// newFunction matches New0 … New8, with what Go adds for their types.
var newFunction = regexp.MustCompile(`^github\.com/waymark-trace/waymark/marker\.New[0-8](\[|$)`)

// isOwn tells functions of the packages that make no markers but know the magic.
func isOwn(function string) bool {
	const module = "github.com/waymark-trace/waymark/"
	return strings.HasPrefix(function, module+"marker.") || strings.HasPrefix(function, module+"internal/")
}

// made returns the places in one function.
func (c *code) made(fn *gosym.Func, news map[uint64]bool) (places []string) {
	if fn.End < fn.Entry || fn.End-fn.Entry > maxFunction {
		return nil
	}
	text := c.img.at(fn.Entry, fn.End-fn.Entry)
	c.img.arch.walk(fn.Entry, text, c.around(nil), func(step step, pcs []uint64) {
		if step.constant == markerabi.MarkerMagic0 || step.calls != 0 && news[step.calls] {
			s := c.site(pcs, fn, false)
			places = append(places, fmt.Sprintf("%s:%d", filepath.Base(s.file), s.line))
		}
	})
	return places
}

// madeText says what link cannot find, "" for nothing.
func madeText(places []string) string {
	const shown = 3
	if len(places) == 0 {
		return ""
	}
	what, them := "1 marker is", "it"
	if len(places) > 1 {
		what, them = fmt.Sprintf("%d markers are", len(places)), "them"
	}
	where := strings.Join(places[:min(len(places), shown)], ", ")
	if len(places) > shown {
		where += ", …"
	}
	return fmt.Sprintf("%s made while the program runs, where no tracer sees %s (%s)", what, them, where)
}

// madeMarkers returns the places of made for the whole program, none where they cannot be told.
func (img *image) madeMarkers() (places []string) {
	defer func() { // debug/gosym panics on some malformed tables
		if recover() != nil {
			places = nil
		}
	}()
	text := img.at(img.anchor.text, img.anchor.etext-img.anchor.text)
	if funcs := img.functions(); funcs != nil && text != nil {
		places = img.made(funcs, text)
	}
	return places
}
