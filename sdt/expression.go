package sdt

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

var (
	errNumber     = errors.New("not a number")
	errSum        = errors.New("not a sum of numbers and a symbol")
	errNumberSize = errors.New("a number of more than 64 bits")
)

// parseNumber reads a decimal or 0x number with an optional sign, from -1<<63 to 1<<64-1, as
// 64 bits; negative is true if it has a minus sign.
func parseNumber(s string) (bits uint64, negative bool, err error) {
	digits := s
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		negative = digits[0] == '-'
		digits = digits[1:]
	}
	base := 10
	if rest, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok {
		base, digits = 16, rest
	}
	if digits == "" || digits[0] == '-' || digits[0] == '+' {
		return 0, false, errNumber
	}
	n, err := strconv.ParseUint(digits, base, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, false, errNumberSize
	case err != nil:
		return 0, false, errNumber
	case !negative:
		return n, false, nil
	case n > 1<<63:
		return 0, false, errNumberSize
	}
	return -n, n != 0, nil
}

// parseSum reads a displacement: numbers and at most one symbol, added and subtracted, as in
// 8, -16, 4+8, sym, sym-2, 24+sym+8 (SystemTap's tapsets.cxx, sdt_uprobe_var_expanding_visitor).
func parseSum(s string) (sum int64, symbol string, err error) {
	if s == "" {
		return 0, "", errSum
	}
	for s != "" {
		sign := ""
		if s[0] == '+' || s[0] == '-' {
			sign, s = s[:1], s[1:]
		}
		term := s
		if i := strings.IndexAny(s, "+-"); i >= 0 {
			term = s[:i]
		}
		s = s[len(term):]
		if isSymbol(term) {
			switch {
			case sign == "-":
				return 0, "", errors.New("a subtracted symbol")
			case symbol != "":
				return 0, "", errors.New("two symbols")
			}
			symbol = term
			continue
		}
		bits, negative, err := parseNumber(sign + term)
		switch {
		case errors.Is(err, errNumber):
			return 0, "", errSum
		case err != nil:
			return 0, "", err
		}
		n := int64(bits)
		if !negative && bits > math.MaxInt64 {
			return 0, "", errNumberSize
		}
		if (n > 0 && sum > math.MaxInt64-n) || (n < 0 && sum < math.MinInt64-n) {
			return 0, "", errNumberSize
		}
		sum += n
	}
	return sum, symbol, nil
}

// isSymbol reports whether s is a name as the assembler takes it: letters, digits, _ . $, bytes
// over 127, no digit first.
func isSymbol(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z', c == '_', c == '.', c >= 0x80:
		case i > 0 && (c == '$' || c >= '0' && c <= '9'):
		default:
			return false
		}
	}
	return s != ""
}
