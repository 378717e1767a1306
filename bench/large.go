package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// How large a program is made: with these, more than 100 MB.
const (
	largeUnits    = 20 // copies of bench/c/large.cc
	largePackages = 45
	largeTypes    = 40 // in each package
)

// largeC builds a C++ program: one unit, linked under many names.
func largeC(dir string, units int) (string, error) {
	object := filepath.Join(dir, "large.o")
	if err := command("g++", "-std=c++17", "-g", "-O2", "-Iinclude", "-c", "-o", object, "bench/c/large.cc"); err != nil {
		return "", err
	}
	var declarations, calls strings.Builder
	args := []string{"-g", "-O2", "-o", filepath.Join(dir, "large_c"), filepath.Join(dir, "main.cc")}
	for i := range units {
		copied := fmt.Sprintf("%s.%d.o", object, i)
		if err := command("objcopy", fmt.Sprintf("--redefine-sym=large_run=large_run_%d", i), object, copied); err != nil {
			return "", err
		}
		args = append(args, copied)
		fmt.Fprintf(&declarations, "extern \"C\" int large_run_%d(int);\n", i)
		fmt.Fprintf(&calls, " + large_run_%d(argc)", i)
	}
	text := declarations.String() + "int main(int argc, char **) { return 0" + calls.String() + " == 0; }\n"
	if err := os.WriteFile(filepath.Join(dir, "main.cc"), []byte(text), 0o666); err != nil {
		return "", err
	}
	return args[3], command("g++", args...)
}

// largeGo writes a Go program into dir, whose generic code is there once for each of many types, and
// builds it. Without the names of directories in it, the next build of it takes what Go's cache has.
func largeGo(dir string, packages int) (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	files := map[string]string{"go.mod": "module example.org/large\n\ngo 1.25.0\n\nrequire github.com/waymark-trace/waymark v0.0.0\n\nreplace github.com/waymark-trace/waymark => " + root + "\n"}
	imports, calls := "", ""
	for p := range packages {
		name := fmt.Sprintf("p%d", p)
		imports += fmt.Sprintf("\t%q\n", "example.org/large/"+name)
		calls += "\tprintln(" + name + ".Run(3))\n"
		files[name+"/p.go"] = largePackage(p)
	}
	files["main.go"] = "package main\n\nimport (\n" + imports + ")\n\nfunc main() {\n" + calls + "}\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			return "", err
		}
	}
	out := filepath.Join(dir, "large_go")
	return out, command("go", "-C", dir, "build", "-trimpath", "-o", out, ".")
}

func largePackage(p int) string {
	var b strings.Builder
	name := fmt.Sprintf("p%d", p)
	fmt.Fprintf(&b, "package %s\n\nimport (\n\t\"strconv\"\n\n\t\"github.com/waymark-trace/waymark/bench/large\"\n\t\"github.com/waymark-trace/waymark/simple\"\n)\n", name)
	run := ""
	for i := range largeTypes {
		fmt.Fprintf(&b, "\ntype t%d struct {\n\tID int\n\tName string\n\tV [%d]byte\n}\n", i, p*largeTypes+i+1)
		fmt.Fprintf(&b, "\nfunc (v t%d) Key() string { return v.Name + strconv.Itoa(v.ID) }\n", i)
		fmt.Fprintf(&b, "\nfunc f%d(n int) string {\n\tvar all []t%d\n\tfor i := range n {\n\t\tall = append(all, t%d{ID: i})\n\t}\n", i, i, i)
		fmt.Fprintf(&b, "\tsimple.Mark1(\"%s:f%d\", \"n %%d\", n)\n\treturn large.Work(all)\n}\n", name, i)
		run += fmt.Sprintf("\ts += f%d(n)\n", i)
	}
	return b.String() + "\nfunc Run(n int) (s string) {\n" + run + "\treturn s\n}\n"
}
