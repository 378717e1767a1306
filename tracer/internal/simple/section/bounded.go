package section

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// maxMarkers bounds what is read of one file.
const maxMarkers = 1 << 16

// Markers is a list of markers. It checks each before it reads the next: a list of empty
// objects, three bytes each, must not become one of structures, a hundred times as long.
type Markers []Marker

// UnmarshalJSON reads a list.
func (l *Markers) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	t, err := d.Token()
	if t == nil && err == nil {
		return nil // null
	}
	if err != nil || t != json.Delim('[') {
		return fmt.Errorf("its markers are not a list")
	}
	*l = Markers{}
	for d.More() {
		if len(*l) == maxMarkers {
			return fmt.Errorf("more than %d markers", maxMarkers)
		}
		var m Marker
		if err := d.Decode(&m); err != nil {
			return fmt.Errorf("marker %d: %w", len(*l)+1, err)
		}
		if err := m.check(); err != nil {
			return fmt.Errorf("marker %d: %w", len(*l)+1, err)
		}
		*l = append(*l, m)
	}
	return nil
}
