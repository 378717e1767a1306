package event

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// AppendJSONString writes the same as encoding/json, except for characters that control a terminal.
func FuzzAppendJSONString(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c\n\t\r\b\f\x00\x7f", "é\u2028\u202e\ufeff", "\xff\xc3", "\U0001f600\U000e0001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := AppendJSONString(nil, s)
		var back string
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatalf("%q: %s: %v", s, got, err)
		}
		if utf8.ValidString(s) && back != s {
			t.Errorf("%q comes back as %q", s, back)
		}
		for rest := string(got); rest != ""; {
			r, n := utf8.DecodeRuneInString(rest)
			if !strconv.IsPrint(r) || r == utf8.RuneError && n == 1 {
				t.Errorf("%q: %s has %q", s, got, r)
			}
			rest = rest[n:]
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(s); err != nil {
			t.Fatal(err)
		}
		want := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
		if printable := strings.IndexFunc(string(want), func(r rune) bool { return !strconv.IsPrint(r) }) < 0; printable && !bytes.Equal(got, want) {
			t.Errorf("%q: %s, encoding/json has %s", s, got, want)
		}
	})
}

func TestAppendJSONFloat(t *testing.T) {
	r := peer.Random(t)
	numbers := []float64{0, math.Copysign(0, -1), 1, -1.5, 1e-6, 9.99e-7, 1e21, 9.99e20, 1e-9, 1e-10, 1e100, math.MaxFloat64, math.SmallestNonzeroFloat64}
	for range 20_000 {
		if f := math.Float64frombits(r.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
			numbers = append(numbers, f)
		}
		numbers = append(numbers, r.NormFloat64()*math.Pow(10, float64(r.IntN(60)-30)))
	}
	double, single := Field{Kind: Float64}, Field{Kind: Float32}
	for _, n := range numbers {
		v := Number(Float64, math.Float64bits(n))
		if want, _ := json.Marshal(n); string(double.AppendJSON(nil, &v)) != string(want) {
			t.Errorf("%v: %s, encoding/json has %s", n, double.AppendJSON(nil, &v), want)
		}
		small := float32(n)
		if math.IsInf(float64(small), 0) {
			continue
		}
		v = Number(Float32, uint64(math.Float32bits(small)))
		if want, _ := json.Marshal(small); string(single.AppendJSON(nil, &v)) != string(want) {
			t.Errorf("float32 %v: %s, encoding/json has %s", small, single.AppendJSON(nil, &v), want)
		}
	}
	v := Number(Float64, math.Float64bits(math.Inf(-1)))
	if got := string(double.AppendJSON(nil, &v)); got != `"-Inf"` {
		t.Errorf("-Inf is %s", got)
	}
}

func TestAppendJSONBytes(t *testing.T) {
	f := Field{Kind: Bytes}
	for n := range 20 {
		data := []byte("\x00\xff\x10abcdefghijklmnopqrs")[:n]
		v := Text(Bytes, data, n)
		if got, want := string(f.AppendJSON(nil, &v)), strconv.Quote(base64.StdEncoding.EncodeToString(data)); got != want {
			t.Errorf("%d bytes are %s, want %s", n, got, want)
		}
	}
}
