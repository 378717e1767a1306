package sdt

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// TypeName is the Go name of the argument's type: int8 to int64, uint8 to uint64, float32,
// float64. Unreadable operands have one too unless their size is not known: then it is "unknown".
func (o Operand) TypeName() string {
	kind := "uint"
	switch {
	case o.Size == 0:
		return "unknown"
	case o.Float:
		kind = "float"
	case o.Signed:
		kind = "int"
	}
	return kind + strconv.Itoa(8*o.Size)
}

// String returns type and location: "int32 5", "uint8 rax>>8", "uint64 [rbp+rax*8-16]",
// "int32 [pc+4096 NBuffers]", "int8 [x10+int32(x1)*1]", "unreadable: …".
func (o Operand) String() string {
	switch o.Kind {
	case Constant:
		switch {
		case o.Float && o.Size == 4:
			return fmt.Sprintf("%s %v", o.TypeName(), math.Float32frombits(uint32(o.Value)))
		case o.Float:
			return fmt.Sprintf("%s %v", o.TypeName(), math.Float64frombits(o.Value))
		case o.Signed:
			return fmt.Sprintf("%s %d", o.TypeName(), int64(o.Value))
		}
		return fmt.Sprintf("%s %d", o.TypeName(), o.Value)
	case Register:
		if o.Shift != 0 {
			return fmt.Sprintf("%s %v>>%d", o.TypeName(), o.Base, o.Shift)
		}
		return fmt.Sprintf("%s %v", o.TypeName(), o.Base)
	case Memory:
		return o.TypeName() + " [" + o.place() + "]"
	}
	return fmt.Sprintf("unreadable: %v", o.Err)
}

func (o Operand) place() string {
	var b strings.Builder
	if o.Base != NoReg {
		b.WriteString(o.Base.String())
	}
	if o.Index != NoReg {
		if b.Len() > 0 {
			b.WriteByte('+')
		}
		index := o.Index.String()
		switch o.Extend {
		case ZeroExtend:
			index = "uint32(" + index + ")"
		case SignExtend:
			index = "int32(" + index + ")"
		}
		fmt.Fprintf(&b, "%s*%d", index, o.Scale)
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, "%#x", uint64(o.Disp))
	} else if o.Disp != 0 {
		fmt.Fprintf(&b, "%+d", o.Disp)
	}
	if o.Symbol != "" {
		b.WriteString(" " + o.Symbol)
	}
	return b.String()
}
