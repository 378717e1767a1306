package introspect

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Handler returns a handler of GET and HEAD that sends the list: as text for people, or as
// JSON to a request with ?format=json, or with application/json and not text/html in its
// Accept header. ?format=text asks for text in any case. JSON is one object:
//
//	{"points": [Point, …], "error": "…"}
//
// error is there when the executable could not be read; see [All]. The handler changes
// nothing, but it shows names and lines of the program's code to every client.
func Handler() http.Handler { return http.HandlerFunc(serve) }

func serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	points, err := All()
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Add("Vary", "Accept")
	// Errors of writing are those of a client that has gone.
	if !wantsJSON(r) {
		h.Set("Content-Type", "text/plain; charset=utf-8")
		_ = write(w, points, err)
		return
	}
	h.Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(struct {
		Points []Point `json:"points"`
		Error  string  `json:"error,omitempty"`
	}{points, text(err)})
}

func wantsJSON(r *http.Request) bool {
	switch r.URL.Query().Get("format") {
	case "json":
		return true
	case "text":
		return false
	}
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}
