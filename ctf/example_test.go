package ctf_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/waymark-trace/waymark/ctf"
)

// Example writes a trace of one event and reads it.
func Example() {
	tmp, err := os.MkdirTemp("", "trace")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, "trace")
	if err := writeExample(dir); err != nil {
		log.Fatal(err)
	}

	trace, err := ctf.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	r := ctf.NewReader(trace)
	defer r.Close()
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Time, e.Class.Name, int64(e.Payload.Get("attempt").Bits), string(e.Payload.Get("path").Text))
	}
	// Output: 1700000000000000042 http:request -1 /x
}

func writeExample(dir string) error {
	w, err := ctf.Create(dir, &ctf.Options{Clock: ctf.Clock{OffsetSeconds: 1_700_000_000}})
	if err != nil {
		return err
	}
	class, err := w.StreamClass(nil, nil)
	if err != nil {
		return err
	}
	request, err := w.EventClass(class, "http:request", &ctf.Struct{Fields: []ctf.Field{
		{Name: "attempt", Type: &ctf.Integer{Size: 32, Signed: true}},
		{Name: "path", Type: &ctf.String{}},
	}})
	if err != nil {
		return err
	}
	stream, err := w.Stream(class, "cpu", 0)
	if err != nil {
		return err
	}
	minusOne := -1
	err = stream.Write(request, 42, nil, []ctf.Value{{Bits: uint64(minusOne)}, {Text: []byte("/x")}})
	return errors.Join(err, w.Close())
}
