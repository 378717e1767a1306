package link

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

func TestTry(t *testing.T) {
	p := os.Getenv("TRY")
	if p == "" {
		t.Skip()
	}
	r, err := File(p, p+".l")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := json.MarshalIndent(r, "", " ")
	fmt.Println(string(b))
	r2, err := File(p+".l", "")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("unchanged", r2.Unchanged)
}
