package ir

import "cmp"

// Arith computes an integer operation in 64 bits, which wraps around. Division by zero yields 1, and then zero is true.
// Shifts are by the lowest six bits of b.
func Arith(op Op, signed bool, a, b uint64) (v uint64, zero bool) {
	switch op {
	case Add:
		return a + b, false
	case Sub:
		return a - b, false
	case Mul:
		return a * b, false
	case And:
		return a & b, false
	case Or:
		return a | b, false
	case Xor:
		return a ^ b, false
	case Shl:
		return a << (b & 63), false
	case Shr:
		if signed {
			return uint64(int64(a) >> (b & 63)), false
		}
		return a >> (b & 63), false
	case Div, Mod:
		return divide(op, signed, a, b)
	}
	return truth(Compare(op, signed, a, b)), false
}

// divide rounds toward zero; the smallest integer divided by -1 is itself.
func divide(op Op, signed bool, a, b uint64) (uint64, bool) {
	switch {
	case b == 0:
		return 1, true
	case signed && op == Div:
		return uint64(int64(a) / int64(b)), false
	case signed:
		return uint64(int64(a) % int64(b)), false
	case op == Div:
		return a / b, false
	}
	return a % b, false
}

// Compare computes a comparison of integers.
func Compare(op Op, signed bool, a, b uint64) bool {
	order := cmp.Compare(a, b)
	if signed {
		order = cmp.Compare(int64(a), int64(b))
	}
	return Ordered(op, order)
}

// Ordered computes a comparison from the order of its operands: below 0, 0 or above 0.
func Ordered(op Op, order int) bool {
	switch op {
	case Equal:
		return order == 0
	case NotEqual:
		return order != 0
	case Less:
		return order < 0
	case LessEqual:
		return order <= 0
	case Greater:
		return order > 0
	}
	return order >= 0
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
