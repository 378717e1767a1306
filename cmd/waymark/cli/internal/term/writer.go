package term

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Streams are the standard streams of a process, as they are.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Writer is the only way of waymark's own text to a standard stream or a file of -o. It escapes every character that could do
// something to a terminal, except line feeds, tabs, and the codes of [Style] where there is colour. It does the same where the stream is a
// file or a pipe, because files and pipes are shown on terminals later. JSON is exact: it has such characters escaped already.
//
// A Writer does not know where a text of a program begins, so it cannot refuse a line feed in one: [Linef], [Table] and
// [Env.Message] do that.
type Writer struct {
	to     io.Writer
	styled bool
}

func newWriter(to io.Writer) *Writer { return &Writer{to: to, styled: StyleFor(to).on} }

// Write writes p, whole characters of text.
func (w *Writer) Write(p []byte) (int, error) {
	out := p
	if !isPlain(p) {
		out = appendSafe(make([]byte, 0, len(p)+16), p, "\n\t", w.styled)
	}
	if _, err := w.to.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// isPlain reports whether text consists of ASCII characters with a glyph, and line feeds.
func isPlain(p []byte) bool {
	for _, c := range p {
		if (c < ' ' || c >= 0x7f) && c != '\n' {
			return false
		}
	}
	return true
}

// styles are the codes of [Style].
var styles = [][]byte{[]byte(boldOn), []byte(DimOn), []byte(styleOff)}

// appendSafe appends text with everything escaped as [Printable] does, except the characters of keep, and the codes of
// styles if styled.
func appendSafe(b, text []byte, keep string, styled bool) []byte {
next:
	for len(text) > 0 {
		if styled && text[0] == '\x1b' {
			for _, code := range styles {
				if bytes.HasPrefix(text, code) {
					b, text = append(b, code...), text[len(code):]
					continue next
				}
			}
		}
		n := 1
		if text[0] >= utf8.RuneSelf {
			_, n = utf8.DecodeRune(text)
		}
		if n == 1 && strings.IndexByte(keep, text[0]) >= 0 {
			b = append(b, text[0])
		} else {
			b = appendPrintable(b, text[:n])
		}
		text = text[n:]
	}
	return b
}

// Linef writes one line. Whatever its arguments are, it stays one line: a line feed in it is escaped as other control
// characters are.
func Linef(w io.Writer, format string, args ...any) error {
	text := fmt.Appendf(nil, format, args...)
	_, err := w.Write(append(appendSafe(make([]byte, 0, len(text)+1), text, "", true), '\n'))
	return err
}

// ErrorLines returns the text of an error, one line for each of the errors that it joins. Line feeds elsewhere in it are of
// what it quotes, and are escaped.
func ErrorLines(err error) []string {
	joined, prefix, suffix := splitJoined(err)
	if joined == nil {
		return []string{Printable(strings.TrimSpace(err.Error()))}
	}
	var lines []string
	for _, e := range joined {
		lines = append(lines, ErrorLines(e)...)
	}
	lines[0] = Printable(prefix) + lines[0]
	lines[len(lines)-1] += Printable(suffix)
	return lines
}

// splitJoined returns the errors that err, or one that it wraps, joins by line feeds, and the text around them.
func splitJoined(err error) (joined []error, prefix, suffix string) {
	joined = joinedIn(err)
	prefix, suffix, ok := strings.Cut(err.Error(), joinedText(joined))
	if len(joined) == 0 || !ok {
		return nil, "", ""
	}
	return joined, prefix, suffix
}

// joinedIn returns the errors that [errors.Join] has joined, err itself or the first that it wraps.
func joinedIn(err error) []error {
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return joinedIn(inner)
		}
	case interface{ Unwrap() []error }:
		all := e.Unwrap()
		if joinedText(all) == err.Error() {
			return all
		}
		for _, inner := range all {
			if joined := joinedIn(inner); joined != nil {
				return joined
			}
		}
	}
	return nil
}

func joinedText(all []error) string {
	texts := make([]string, len(all))
	for i, err := range all {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "\n")
}

// ErrorText returns the text of an error on one line.
func ErrorText(err error) string { return strings.Join(ErrorLines(err), "; ") }
