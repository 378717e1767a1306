package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// An engine runs containers, with storage of its own, in the way that works inside this machine too: limits that it may
// set, and no network.
type engine struct{ storage, image string }

func (e engine) args(args ...string) []string {
	return append([]string{"--runtime", "runc", "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs",
		"--root", filepath.Join(e.storage, "root"), "--runroot", filepath.Join(e.storage, "run")}, args...)
}

func (e engine) run(t *testing.T, options string, verb ...string) (string, error) {
	t.Helper()
	args := append(e.args("run", "--rm", "--network", "none", "--ulimit", "nofile=4096:4096", "--ulimit", "nproc=1000:1000"), strings.Fields(options)...)
	out, err := exec.Command("podman", append(append(args, e.image), verb...)...).CombinedOutput()
	return string(out), err
}

// TestImage traces a program of this machine from inside a container, with the options of docs/containers.md.
func TestImage(t *testing.T) {
	peer.Root(t)
	peer.Need(t, "podman", "runc")
	e := engine{storage: t.TempDir()}
	out := output(t, "podman", e.args("pull", "--quiet", "oci:"+filepath.Join(dist(t), "waymark_1.2.3-rc.1_oci"))...)
	e.image = strings.TrimSpace(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:])
	t.Cleanup(func() { output(t, "podman", e.args("system", "reset", "--force")...) })

	if got, err := e.run(t, "", "version"); err != nil || !strings.Contains(got, testVersion) {
		t.Errorf("%v\n%s", err, got)
	}
	program := filepath.Join(t.TempDir(), "program")
	build := exec.Command("go", "build", "-o", program, "./examples/agent")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	link := exec.Command("go", "run", "./cmd/waymark", "link", program)
	link.Dir = ".."
	if out, err := link.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	target := exec.Command(program)
	if err := target.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = target.Process.Kill(); _ = target.Wait() })
	page, err := os.ReadFile("../docs/containers.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^docker run --rm -it (.*--pid=host.*) waymark:VERSION stat -p 1234$`).FindAllStringSubmatch(string(page), -1)
	if len(commands) != 2 {
		t.Fatalf("the page has %d commands with the host's PIDs", len(commands))
	}
	for _, m := range commands {
		got, err := e.run(t, m[1], "stat", "--engine", "kernel", "-d", "1s", "-p", strconv.Itoa(target.Process.Pid))
		if err != nil || !regexp.MustCompile(`(?m)^work:begin +[1-9]`).MatchString(got) {
			t.Errorf("%s: %v\n%s", m[1], err, got)
		}
	}
	e.beside(t, program)
}

// beside traces a program in a container from another one, of the same user and without any privilege.
func (e engine) beside(t *testing.T, program string) {
	args := e.args("run", "--rm", "--name", "app", "--network", "none", "--ulimit", "nofile=4096:4096", "--ulimit", "nproc=1000:1000",
		"--user", "1000", "--ipc=shareable", "--volume", program+":/program:ro", "--entrypoint", "/program", e.image, "-pause", "1ms")
	app := exec.Command("podman", args...)
	if err := app.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = exec.Command("podman", e.args("kill", "app")...).Run()
		_ = app.Wait()
	})
	var (
		got string
		err error
	)
	for range 100 { // until the container runs
		got, err = e.run(t, "--pid=container:app --ipc=container:app --user 1000 --cap-drop ALL", "stat", "-d", "1s", "-p", "1")
		if err == nil {
			break
		}
	}
	if err != nil || !strings.Contains(got, "through its agent") || !regexp.MustCompile(`(?m)^work:begin +[1-9]`).MatchString(got) {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestManifests decodes the manifests of docs/containers.md as the API server does: unknown and repeated fields are
// errors.
func TestManifests(t *testing.T) {
	page, err := os.ReadFile("../docs/containers.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, m := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		var head struct{ Kind string }
		if err := yaml.Unmarshal([]byte(m[1]), &head); err != nil {
			t.Fatal(err)
		}
		kinds[head.Kind] = true
		var object any
		switch head.Kind {
		case "Pod":
			object = new(corev1.Pod)
		case "DaemonSet":
			object = new(appsv1.DaemonSet)
		default:
			t.Fatalf("a manifest of kind %q", head.Kind)
		}
		if err := decode(m[1], object); err != nil {
			t.Errorf("%s: %v", head.Kind, err)
		}
	}
	if len(kinds) != 2 {
		t.Errorf("the page has %v", kinds)
	}
	if err := decode("kind: Pod\nspec: {hostPid: true}\n", new(corev1.Pod)); err == nil {
		t.Error("a misspelt field is accepted")
	}
}

func decode(manifest string, object any) error {
	text, err := yaml.YAMLToJSONStrict([]byte(manifest))
	if err != nil {
		return err
	}
	wrong, err := json.UnmarshalStrict(text, object)
	return errors.Join(append(wrong, err)...)
}
