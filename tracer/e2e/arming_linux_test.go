package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/internal/test/talk"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/link"
)

// armingModel is what a marker's arming comes to, whoever does it.
type armingModel struct {
	arms, byName, typed, named, tracers int // tracers of the kernel share one reference count
	calls                               int
}

// do returns whether the marker must refuse.
func (m *armingModel) do(word string) (refused bool) {
	down := func(n *int) bool {
		if *n == 0 {
			return true
		}
		*n--
		return false
	}
	switch word {
	case "arm":
		m.arms++
	case "disarm":
		return down(&m.arms)
	case "arm-name":
		m.byName++
	case "disarm-name":
		return down(&m.byName)
	case "register":
		m.typed++
	case "register-name":
		m.named++
	case "unregister":
		return down(&m.typed)
	case "unregister-name":
		return down(&m.named)
	case "mark":
		m.calls = 0
		if m.arms+m.byName > 0 {
			m.calls = m.typed + m.named
		}
	}
	return false
}

func (m *armingModel) String() string {
	armed := m.arms + m.byName
	return fmt.Sprint(armed > 0 || m.tracers > 0, " ", armed, " ", min(m.tracers, 1), " ", m.typed+m.named, " ", m.calls)
}

// Random operations on both halves of an armed word, in the program itself and through real
// uprobes, against the model above.
func TestArmingModel(t *testing.T) {
	peer.Root(t)
	path := t.TempDir() + "/arming"
	if _, err := link.File(gobuild.Build(t, gobuild.Config{}, "testdata/arming"), path, link.Options{}); err != nil {
		t.Fatal(err)
	}
	p := talk.Start(t, exec.Command(path))
	target := tracer.PIDs(p.PID())
	p.Ask("mark") // it is running
	markers, err := tracer.Find(context.Background(), target)
	if err != nil {
		t.Fatal(err)
	}
	var attached []*tracer.Counter
	t.Cleanup(func() {
		for _, c := range attached {
			c.Close()
		}
	})
	words := []string{"arm", "disarm", "arm-name", "disarm-name", "register", "register-name", "unregister", "unregister-name", "mark", "mark", "attach", "detach"}
	var model armingModel
	seed := peer.Seed(t)
	random := rand.New(rand.NewPCG(seed, 0))
	var history []string
	for range 1500 {
		word := words[random.IntN(len(words))]
		if (word == "attach" || word == "detach") && random.IntN(4) != 0 {
			continue // these are slow
		}
		history = append(history, word)
		switch {
		case word == "attach" && len(attached) < 3:
			c, err := tracer.Count(target, markers, nil)
			if err != nil {
				t.Fatal(err)
			}
			attached = append(attached, c)
			word = "mark"
		case word == "detach" && len(attached) > 0:
			if err := attached[0].Close(); err != nil {
				t.Fatal(err)
			}
			attached = attached[1:]
			word = "mark"
		case word == "attach" || word == "detach":
			continue
		}
		model.tracers = len(attached)
		refused := model.do(word)
		if got, want := p.Ask(word), fmt.Sprint(refused, " ", &model); got != want {
			t.Fatalf("seed %d, after %q: refused, enabled, armed, kernel, probes, calls %s, the model says %s", seed, history[max(0, len(history)-20):], got, want)
		}
	}
}
