package elffile

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// file returns a file of 64 bits with one section beside that of the names.
func file(t testing.TB, name string, flags elf.SectionFlag, data []byte) []byte {
	t.Helper()
	names := "\x00" + name + "\x00.shstrtab\x00"
	const head, each = 64, 64
	at := uint64(head)
	section := elf.Section64{Name: 1, Type: uint32(elf.SHT_PROGBITS), Flags: uint64(flags), Off: at, Size: uint64(len(data))}
	at += section.Size
	table := elf.Section64{Name: uint32(len(name) + 2), Type: uint32(elf.SHT_STRTAB), Off: at, Size: uint64(len(names))}
	at += table.Size
	header := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Shoff: at, Ehsize: head,
		Shentsize: each, Shnum: 3, Shstrndx: 2}
	copy(header.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	var b bytes.Buffer
	for _, part := range []any{header, data, []byte(names), elf.Section64{}, section, table} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// zeros compresses so many of them, by about a thousand times.
func zeros(t testing.TB, n int64, compressed io.WriteCloser) {
	t.Helper()
	if _, err := io.CopyN(compressed, zeroReader{}, n); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func compressed(t testing.TB, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, elf.Chdr64{Type: uint32(elf.COMPRESS_ZLIB), Size: uint64(size)}); err != nil {
		t.Fatal(err)
	}
	zeros(t, size, zlib.NewWriter(&b))
	return b.Bytes()
}

// A small file with a section that is large when uncompressed is refused before it takes memory.
func TestCompressedBomb(t *testing.T) {
	const size = 80 << 20
	bomb := compressed(t, size)
	for name, data := range map[string][]byte{
		"gABI": file(t, ".debug_info", elf.SHF_COMPRESSED, bomb),
		"old":  file(t, ".zdebug_info", 0, append(binary.BigEndian.AppendUint64([]byte("ZLIB"), size), bomb[24:]...)),
	} {
		im, err := FromBytes(data)
		if err != nil {
			t.Fatal(err)
		}
		var limit *LimitError
		if got, err := im.Contents(&im.Sections[1]); !errors.As(err, &limit) || got != nil {
			t.Errorf("%s: %d bytes of a file of %d, error %v", name, len(got), len(data), err)
		} else if limit.Need != size || limit.Held != uint64(len(data)) || !strings.Contains(err.Error(), "section .") {
			t.Errorf("%s: %+v, %v", name, limit, err)
		}
	}
}

// A section within the budget is uncompressed once, and the size in its header must be right.
func TestCompressed(t *testing.T) {
	const size = 1 << 20
	im, err := FromBytes(file(t, ".debug_info", elf.SHF_COMPRESSED, compressed(t, size)))
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if got, err := im.Contents(&im.Sections[1]); err != nil || len(got) != size {
			t.Fatal(len(got), err)
		}
	}
	im.Forget()
	if im.budget.used != 0 {
		t.Errorf("%d bytes are used of nothing", im.budget.used)
	}
	data := compressed(t, size)
	binary.LittleEndian.PutUint64(data[8:], size-1)
	im, err = FromBytes(file(t, ".debug_info", elf.SHF_COMPRESSED, data))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := im.Contents(&im.Sections[1]); err == nil {
		t.Error("the head is not believed")
	}
}

// Sections that objcopy compresses have the bytes that they had, in every form that it knows.
func TestObjcopyCompresses(t *testing.T) {
	peer.Need(t, "gcc", "objcopy")
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain+".c", []byte("int main(void) { return 0; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-g", "-o", plain, plain+".c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := contents(t, plain)
	for _, form := range []string{"zlib-gabi", "zlib-gnu", "zstd"} {
		path := filepath.Join(dir, form)
		if out, err := exec.Command("objcopy", "--compress-debug-sections="+form, plain, path).CombinedOutput(); err != nil {
			if form == "zstd" && strings.Contains(string(out), "zstd") {
				t.Log("this objcopy has no zstd")
				continue
			}
			t.Fatalf("%v\n%s", err, out)
		}
		got := contents(t, path)
		for name, data := range want {
			if !bytes.Equal(got[name], data) {
				t.Errorf("%s: section %s has %d bytes, not the %d that it had", form, name, len(got[name]), len(data))
			}
		}
	}
}

// contents returns the debugging information of a file by section.
func contents(t *testing.T, path string) map[string][]byte {
	t.Helper()
	im, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	all := map[string][]byte{}
	for i := range im.Sections {
		name, ok := strings.CutPrefix(strings.Replace(im.Name(&im.Sections[i]), ".zdebug_", ".debug_", 1), ".debug_")
		if !ok {
			continue
		}
		data, err := im.Contents(&im.Sections[i])
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[name] = bytes.Clone(data)
	}
	return all
}

// A sparse file's budget depends on its stored bytes: neither its sections nor its checksum are
// read.
func TestSparse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sparse")
	data := file(t, ".debug_info", 0, nil)
	at := binary.LittleEndian.Uint64(data[40:]) + 64 // of the section's header
	binary.LittleEndian.PutUint64(data[at+32:], 1<<30)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 8<<30); err != nil {
		t.Fatal(err)
	}
	im, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	var limit *LimitError
	if _, err := im.Contents(&im.Sections[1]); !errors.As(err, &limit) {
		t.Errorf("contents: %v", err)
	}
	if _, err := im.Data(&im.Sections[1], 1<<40); !errors.As(err, &limit) {
		t.Errorf("data: %v", err)
	}
	if im.hasSum(0) {
		t.Error("its checksum was computed")
	}
	f, err := OpenRegular(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, _, err := ReadAll(f, 16<<30); !errors.As(err, &limit) {
		t.Errorf("all of it: %v", err)
	}
}
