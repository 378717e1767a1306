package introspect

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/marker"
)

var served = marker.New1[string]("introspect:served", "path %s")

func TestHandler(t *testing.T) {
	if served.Enabled() {
		t.Fatal("armed by nobody")
	}
	server := httptest.NewServer(Handler())
	defer server.Close()
	for _, tt := range []struct {
		query, accept string
		json          bool
	}{
		{"", "", false},
		{"", "text/html,application/json;q=0.9,*/*;q=0.8", false}, // a browser
		{"", "application/json", true},
		{"?format=json", "text/html", true},
		{"?format=text", "application/json", false},
	} {
		req, err := http.NewRequest("GET", server.URL+"/"+tt.query, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", tt.accept)
		resp, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if tt.json {
			var got struct{ Points []Point }
			err = json.NewDecoder(resp.Body).Decode(&got)
			for _, p := range got.Points {
				b.WriteString(p.Name + " " + p.Variable + "\n")
			}
		} else {
			err = resp.Write(&b)
		}
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		kind := "text/plain; charset=utf-8"
		if tt.json {
			kind = "application/json"
		}
		if got := resp.Header.Get("Content-Type"); got != kind || !strings.Contains(b.String(), "introspect:served") {
			t.Errorf("%q, Accept %q: %s, want %s:\n%s", tt.query, tt.accept, got, kind, b.String())
		}
	}
	resp, err := server.Client().Post(server.URL, "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s", resp.Status)
	}
}

// A hostile name cannot break the table.
func TestWritePlain(t *testing.T) {
	var b strings.Builder
	if err := write(&b, []Point{{Kind: Marker, Name: "a\tb\nc", Problem: "is\nwrong"}}, nil); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n != 5 {
		t.Errorf("%d lines, want 5:\n%s", n, b.String())
	}
}

var wrongName = marker.New0("introspect:not-a-name", "") //waymark:ignore a wrong name is what is tested

// A wrong declaration is reported before the first use of the point.
func TestProblem(t *testing.T) {
	points, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range points {
		if p.Address == wrongName.Info().Address {
			if !strings.Contains(p.Problem, "not-a-name") {
				t.Errorf("a marker with a wrong name is %+v", p)
			}
			return
		}
	}
	t.Error("the marker is not listed")
}
