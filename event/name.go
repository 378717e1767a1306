package event

import (
	"errors"
	"strconv"
	"strings"
)

// MaxName bounds a provider and a name, in bytes: tracefs takes 63 for an event and its
// group each, and perf prefixes the provider with "sdt_".
const MaxName = 59

// ParseName splits "provider:name" at its first colon. A name without one belongs to the
// provider named like its package, which this function does not know: provider is then "".
func ParseName(s string) (provider, name string, err error) {
	name = s
	if before, after, ok := strings.Cut(s, ":"); ok {
		provider, name = before, after
		if err := checkWord("provider", provider); err != nil {
			return "", "", err
		}
	}
	if err := checkWord("name", name); err != nil {
		return "", "", err
	}
	return provider, name, nil
}

// CheckSimpleName checks the name of a simple marker, subsystem:component, which may go on
// with further colons and components.
func CheckSimpleName(s string) error {
	for part := range strings.SplitSeq(s, ":") {
		if err := checkWord("name "+strconv.Quote(s)+": component", part); err != nil {
			return err
		}
	}
	return nil
}

// CheckNames checks the names of an event's fields.
func CheckNames(names []string) error {
	seen := make(map[string]bool)
	for _, n := range names {
		if err := checkWord("field", n); err != nil {
			return err
		}
		if seen[n] {
			return errors.New("two fields are called " + n)
		}
		seen[n] = true
	}
	return nil
}

func checkWord(what, s string) error {
	if s == "" {
		return errors.New(what + " is empty")
	}
	if len(s) > MaxName {
		return errors.New(what + " " + strconv.Quote(s[:20]) + "… has " + strconv.Itoa(len(s)) + " bytes, at most " + strconv.Itoa(MaxName) + " are allowed")
	}
	for i := range len(s) {
		if !isWord(s[i]) {
			return errors.New(what + " " + strconv.Quote(s) + " has " + strconv.Quote(s[i:i+1]) + " at byte " + strconv.Itoa(i) + "; letters, digits and _ are allowed")
		}
	}
	return nil
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// ProviderOf returns the provider of markers that name none: the last element of the import
// path that a Go symbol such as "example.org/a/http.(*Server).serve" begins with, as a word.
// It returns "" when there is none.
func ProviderOf(symbol string) string {
	path := symbol
	dir := strings.LastIndexByte(path, '/') + 1
	dot := strings.IndexByte(path[dir:], '.')
	if dot < 0 {
		return ""
	}
	path = path[:dir+dot]
	last := path[dir:]
	if dir > 0 && isMajor(last) { // example.org/a/http/v2
		path = path[:dir-1]
		last = path[strings.LastIndexByte(path, '/')+1:]
	}
	last, _, _ = strings.Cut(last, "%2e") // gopkg.in/yaml%2ev3, as symbols escape it
	word := []byte(last)
	for i, c := range word {
		if !isWord(c) {
			word[i] = '_'
		}
	}
	return string(word[:min(len(word), MaxName)])
}

func isMajor(s string) bool {
	return len(s) > 1 && s[0] == 'v' && strings.Trim(s[1:], "0123456789") == ""
}
