package peer

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// Alone runs the test that calls it in a process of its own, as what it looks at happens once in a process, and
// -count runs tests again in one. It returns true there, and in the test's first process false, when that is done.
func Alone(t *testing.T) bool {
	t.Helper()
	const name = "WAYMARK_TEST_ALONE"
	if os.Getenv(name) == t.Name() {
		return true
	}
	self, err := os.Executable()
	if err != nil {
		return true // there are no processes: js, wasip1
	}
	cmd := exec.Command(self, "-test.run=^"+regexp.QuoteMeta(t.Name())+"$", "-test.count=1", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), name+"="+t.Name())
	switch out, err := cmd.CombinedOutput(); {
	case errors.Is(err, errors.ErrUnsupported):
		return true
	case err != nil:
		t.Errorf("%v, alone:\n%s", err, out)
	}
	return false
}
