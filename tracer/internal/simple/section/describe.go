package section

import "strings"

// Text returns the description with $variable in place of each conversion. Where another
// phrase begins behind a variable without punctuation, a semicolon goes between: that is how
// the listing that comes with the format sets them.
func (r Record) Text() string {
	vars := Split(r.Variables)
	var b strings.Builder
	for rest := r.Description; rest != ""; {
		i := strings.IndexByte(rest, '%')
		if i < 0 {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:i])
		stars, n := conversion(rest[i:])
		verb := rest[i : i+n]
		rest = rest[i+n:]
		switch {
		case verb == "%%":
			b.WriteByte('%')
			continue
		case n == 1 || len(vars) <= stars: // no conversion, or nothing left for it
			b.WriteString(verb)
			continue
		}
		b.WriteString(variable(vars[stars]))
		vars = vars[stars+1:]
		if len(rest) > 1 && rest[0] == ' ' && isLetter(rest[1]) {
			b.WriteByte(';')
		}
	}
	return b.String()
}

// Verbs returns the conversions of the description, as "%08lx", one for each of the variables
// that it has one for; those that only say a width have "".
func (r Record) Verbs() []string {
	var verbs []string
	for rest := r.Description; ; {
		i := strings.IndexByte(rest, '%')
		if i < 0 {
			return verbs
		}
		stars, n := conversion(rest[i:])
		if verb := rest[i : i+n]; n > 1 && verb != "%%" {
			verbs = append(verbs, make([]string, stars)...)
			verbs = append(verbs, verb)
		}
		rest = rest[i+n:]
	}
}

// Plain is an expression without the $ that listings put before it.
func Plain(expr string) string { return strings.TrimPrefix(strings.TrimSpace(expr), "$") }

// conversion returns how long the conversion is that s begins with, 1 for a lone percent
// sign, and how many arguments it takes before its own: one for each * (ISO C, 7.21.6.1).
func conversion(s string) (stars, n int) {
	for n = 1; n < len(s); n++ {
		switch c := s[n]; {
		case c == '*':
			stars++
		case strings.IndexByte("#0- +'123456789.hlLqjzt", c) >= 0:
			// Go's %q and %t are lengths of C, which a conversion follows.
			if (c == 'q' || c == 't') && (n+1 == len(s) || strings.IndexByte("diouxXn", s[n+1]) < 0) {
				return stars, n + 1
			}
		case isLetter(c) || c == '%':
			return stars, n + 1
		default:
			return 0, 1
		}
	}
	return 0, 1
}

// variable returns an expression as the listing names it: what is more than a variable and
// its members is in parentheses.
func variable(e string) string {
	for i := range len(e) {
		c := e[i]
		simple := isLetter(c) || '0' <= c && c <= '9' || strings.IndexByte("_.:[]", c) >= 0 || c >= 0x80 ||
			c == '-' && strings.HasPrefix(e[i:], "->") || c == '>' && i > 0 && e[i-1] == '-'
		if !simple {
			return "$(" + e + ")"
		}
	}
	return "$" + e
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// Split returns the expressions of a list: it is divided at commas that are not within
// brackets or quotes.
func Split(list string) []string {
	var parts []string
	depth, from := 0, 0
	quote := byte(0)
	for i := 0; i < len(list); i++ {
		c := list[i]
		switch {
		case quote != 0:
			if c == '\\' && quote != '`' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case c == ',' && depth <= 0:
			parts = append(parts, strings.TrimSpace(list[from:i]))
			from = i + 1
		}
	}
	if last := strings.TrimSpace(list[from:]); last != "" || len(parts) > 0 {
		parts = append(parts, last)
	}
	return parts
}
