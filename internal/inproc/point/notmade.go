package point

import (
	"errors"
	"reflect"
	"runtime"
	"strconv"
	"strings"
)

// NotMade is the error of using a marker or tracepoint that no New function made. It has no name, so
// the message has its argument types, those of fn if they are known, and the code that uses it.
func NotMade(what string, fn reflect.Type) error {
	of, arity := "", "N"
	if fn != nil {
		of, arity = " of "+strings.TrimPrefix(fn.String(), "func"), strconv.Itoa(fn.NumIn())
	}
	return errors.New("a " + what + of + ", used at " + user(what) + ", was not made by " + what + ".New" + arity)
}

// user returns the place of the call into a package of waymark, FILE:LINE.
func user(pkg string) string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, module+pkg+".") {
			return f.File + ":" + strconv.Itoa(f.Line)
		}
		if !more {
			return "unknown"
		}
	}
}

const module = "github.com/waymark-trace/waymark/"
