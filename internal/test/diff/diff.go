// Package diff shows tests how values differ, with the standard library alone: programs that
// import the tested packages take on nothing else.
package diff

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Of returns "" if want and got are deeply equal, as [reflect.DeepEqual] defines it. Otherwise
// it returns the parts that differ, one a line: first those of want, after "-", then those of got,
// after "+". Neither value may refer to itself.
func Of(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	a, b := parts(nil, "", reflect.ValueOf(want)), parts(nil, "", reflect.ValueOf(got))
	if slices.Equal(a, b) { // they differ by their types, or by what no text shows, such as NaN
		return fmt.Sprintf("-%#v\n+%#v\n", want, got)
	}
	return lacking("-", a, b) + lacking("+", b, a)
}

// lacking returns the lines that others does not contain.
func lacking(sign string, lines, others []string) string {
	var out strings.Builder
	for _, line := range lines {
		if !slices.Contains(others, line) {
			out.WriteString(sign + line + "\n")
		}
	}
	return out.String()
}

// parts appends a line for each part of v that has no parts itself: its path and its value.
func parts(lines []string, path string, v reflect.Value) []string {
	switch k := v.Kind(); {
	case k == reflect.Invalid:
		return append(lines, path+" nil")
	case (k == reflect.Pointer || k == reflect.Interface) && !v.IsNil():
		return parts(lines, path, v.Elem())
	case k == reflect.Struct && v.NumField() > 0:
		for i := range v.NumField() {
			lines = parts(lines, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case (k == reflect.Slice || k == reflect.Array) && v.Len() > 0:
		for i := range v.Len() {
			lines = parts(lines, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case k == reflect.Map && v.Len() > 0:
		from := len(lines)
		for _, key := range v.MapKeys() {
			lines = parts(lines, fmt.Sprintf("%s[%#v]", path, key), v.MapIndex(key))
		}
		slices.Sort(lines[from:])
	case k == reflect.String && strings.Contains(v.String(), "\n"):
		for i, line := range strings.SplitAfter(v.String(), "\n") {
			lines = append(lines, fmt.Sprintf("%s line %d: %q", path, i+1, line))
		}
	default:
		return append(lines, fmt.Sprintf("%s %#v", path, v))
	}
	return lines
}
