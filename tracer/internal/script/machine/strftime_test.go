package machine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// TestTimeFormats compares all conversions with date(1), at random times of 140 years and around the new year.
func TestTimeFormats(t *testing.T) {
	date := peer.Need(t, "date")[0]
	seed := uint64(time.Now().UnixNano())
	t.Logf("WAYMARK_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var all []string
	for c := range timeConversions {
		if c != 'f' && c != 'n' && c != 't' { // %f is bpftrace's
			all = append(all, "%"+string(rune(c)))
		}
	}
	slices.Sort(all)
	format := strings.Join(all, "|")
	var input strings.Builder
	var times []time.Time
	for i := range 400 {
		at := time.Unix(random.Int64N(140*365*24*3600), 0).UTC()
		if i%2 == 0 {
			at = time.Date(1970+i/4, 12, 25+i%14, i%24, i%60, 0, 0, time.UTC)
		}
		times = append(times, at)
		fmt.Fprintf(&input, "@%d\n", at.Unix())
	}
	c := exec.Command(date, "-f", "-", "+"+format)
	c.Stdin, c.Env = strings.NewReader(input.String()), append(os.Environ(), "TZ=UTC", "LC_ALL=C")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		if got := string(AppendTime(nil, format, times[i])); got != want {
			t.Fatalf("%v:\n%s\n%s\nhas date", times[i], got, want)
		}
	}
}
