package machine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
)

// TestFormats compares random conversions of random values with C's printf.
func TestFormats(t *testing.T) {
	gcc := peer.Need(t, "gcc")[0]
	seed := uint64(time.Now().UnixNano())
	t.Logf("WAYMARK_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	pick := func(s ...string) string { return s[random.IntN(len(s))] }
	var program, want strings.Builder
	program.WriteString("#include <stdio.h>\nint main(void) {\n")
	for range 1500 {
		verb := "%" + pick("", "-", "0", "+", " ", "#", "-#", "+0", "#0", "-+") + pick("", "1", "5", "12", "30") + pick("", "", "", ".0", ".3", ".15")
		var v Value
		typ, c := ir.Int64Type, ""
		switch random.IntN(6) {
		case 0:
			typ = ir.Text(20)
			v.Text = pick("", "a", "text", "longer text")
			verb = strings.NewReplacer("#", "", "0", "", "+", "", " ", "").Replace(verb[:min(len(verb), 2)]) + verb[min(len(verb), 2):] // C leaves the rest undefined
			verb = "%" + strings.TrimLeft(verb[1:], "#0+ ") + "s"
			c = fmt.Sprintf("%q", v.Text)
		case 1:
			typ = ir.Type{Base: ir.Float, Bits: 64}
			f := []float64{0, 1, -2.5, 1e6, 123456.789, 1e-5, 3.14159, 1e100}[random.IntN(8)]
			v.Bits = math.Float64bits(f)
			verb = strings.ReplaceAll(verb, "#", "") + pick("f", "e", "g", "E", "G")
			c = fmt.Sprintf("%g", f)
			if !strings.ContainsAny(c, ".e") {
				c += ".0"
			}
		default:
			v.Bits = []uint64{0, 1, 42, 255, math.MaxUint64, 1 << 31, 1 << 40, uint64(random.Uint32()), random.Uint64()}[random.IntN(9)]
			conversion := pick("d", "i", "u", "x", "X", "o")
			if strings.IndexByte("di", conversion[0]) < 0 {
				verb = strings.NewReplacer("+", "", " ", "").Replace(verb)
			} else {
				verb = strings.ReplaceAll(verb, "#", "")
			}
			if conversion == "u" {
				verb = strings.ReplaceAll(verb, "#", "")
			}
			verb += pick("", "hh", "h", "l", "ll") + conversion
			c = fmt.Sprintf("%dLL", int64(v.Bits))
			if int64(v.Bits) == math.MinInt64 {
				continue
			}
		}
		f, err := ir.ParseFormat(verb)
		if err != nil {
			t.Fatalf("%s: %v", verb, err)
		}
		if v.Bits == 0 && strings.Contains(verb, ".0") && typ.Base == ir.Int || strings.Contains(verb, "#0") && strings.HasSuffix(verb, "o") {
			continue
		}
		got, _ := AppendFormat(nil, f, []ir.Type{typ}, []Value{v}, &Style{})
		fmt.Fprintf(&want, "%s %s [%s]\n", verb, c, got)
		fmt.Fprintf(&program, "printf(\"%s %%s [%s]\\n\", %q, %s);\n", strings.ReplaceAll(verb, "%", "%%"), verb, c, c)
	}
	program.WriteString("}\n")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.c"), []byte(program.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gcc, "-w", "-o", filepath.Join(dir, "p"), filepath.Join(dir, "p.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.Command(filepath.Join(dir, "p")).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines, n := strings.Split(want.String(), "\n"), 0
	for i, line := range strings.Split(string(out), "\n") {
		if lines[i] != line && n < 20 {
			n++
			t.Errorf("%s, C has %s", lines[i], line)
		}
	}
}
