package debuginfo

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

const program = `namespace outer { struct box { int n; int get() const; }; }
static inline int square(int n) {
	return n * n; // 3
}
static int dropped(int n) {
	return n + 100; // 6
}

int outer::box::get() const {
	return square(n); // 10
}
template <typename T> T twice(T v) {
	return v + v; // 13
}
int main(int argc, char **) {
	auto lambda = [&](int n) {
		return n + argc; // 17
	};
	outer::box b{argc};
	return b.get() + twice(argc) + lambda(1); // 20
}
static int unused(int n) {
	return n + 100; // 23
}
`

// want is by line. Of functions that the compiler dropped nothing is known.
var want = map[int]string{1: "", 3: "square", 6: "dropped", 10: "get", 13: "twice<int>", 17: "main", 20: "main", 23: "unused", 99: ""}

func TestOf(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.cc"), []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, compiler := range []string{"g++", "clang++"} {
		peer.Need(t, compiler)
		for _, flags := range []string{"-O0 -gdwarf-5", "-O2 -gdwarf-5", "-O2 -gdwarf-4", "-O1 -gdwarf-4 -gz", "-O2 -g -flto"} {
			if compiler == "clang++" && strings.Contains(flags, "lto") {
				continue // needs a linker that knows it
			}
			cmd := exec.Command(compiler, append(strings.Fields(flags), "-w", "-o", "a.out", "./a.cc")...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			data, err := os.ReadFile(filepath.Join(dir, "a.out"))
			if err != nil {
				t.Fatal(err)
			}
			info, err := Open(bytes.NewReader(data), "a.out")
			if err != nil {
				t.Fatal(err)
			}
			f, err := info.FunctionsIn([]string{"./a.cc", "other.cc"})
			if err != nil {
				t.Fatal(err)
			}
			defer info.Close()
			for line, name := range want {
				// No other function may be named, and none is needed where no code of the line is left.
				if got := f.Of("./a.cc", line); got != name && !(got == "" && (name == "dropped" || name == "unused" || !strings.Contains(flags, "-O0"))) {
					t.Errorf("%s %s: line %d is in %q, want %q", compiler, flags, line, got, name)
				}
			}
			if got := f.Of("other.cc", 3); got != "" {
				t.Errorf("line 3 of a file that is not there is in %q", got)
			}
		}
	}
}

// FuzzRead reads debugging information of which any byte may be wrong.
func FuzzRead(f *testing.F) {
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.cc"), []byte("int f(int n) { return n + 1; }\nstruct s { int g(); };\nint s::g() { return f(2); }\n"), 0o666); err != nil {
		f.Fatal(err)
	}
	for _, flags := range []string{"-gdwarf-5", "-gdwarf-4", "-gdwarf-4 -gz"} {
		cmd := exec.Command(peer.Need(f, "g++")[0], append(strings.Fields(flags), "-O1", "-c", "-o", "a.o", "a.cc")...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			f.Fatalf("%v\n%s", err, out)
		}
		data, err := os.ReadFile(filepath.Join(dir, "a.o"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := Open(bytes.NewReader(data), "a.o")
		if err != nil {
			return
		}
		defer info.Close()
		if functions, err := info.FunctionsIn([]string{"a.cc"}); err == nil {
			functions.Of("a.cc", 1)
			functions.Of("a.cc", 3)
		}
	})
}
