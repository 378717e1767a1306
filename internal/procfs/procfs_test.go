package procfs

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/diff"
)

const someMaps = `00400000-00452000 r-xp 00000000 08:02 173521                             /usr/bin/dbus-daemon
00651000-00652000 rw-p 00051000 08:02 173521                             /usr/bin/dbus-daemon
00e03000-00e24000 rw-p 00000000 00:00 0                                  [heap]
7f0a00000000-7f0a00021000 rw-p 00000000 00:00 0 
35b1800000-35b1820000 r-xs 1a2b000 fd:1f 4294967297 /tmp/new\012line  (deleted) (deleted)
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
`

func TestParseMaps(t *testing.T) {
	got, err := ParseMaps(strings.NewReader(someMaps))
	if err != nil {
		t.Fatal(err)
	}
	daemon := Device{8, 2}
	want := []Mapping{
		{Start: 0x400000, End: 0x452000, Executable: true, Private: true, Device: daemon, Inode: 173521, Path: "/usr/bin/dbus-daemon"},
		{Start: 0x651000, End: 0x652000, Writable: true, Private: true, Offset: 0x51000, Device: daemon, Inode: 173521, Path: "/usr/bin/dbus-daemon"},
		{Start: 0xe03000, End: 0xe24000, Writable: true, Private: true, Path: "[heap]"},
		{Start: 0x7f0a00000000, End: 0x7f0a00021000, Writable: true, Private: true},
		{Start: 0x35b1800000, End: 0x35b1820000, Executable: true, Offset: 0x1a2b000, Device: Device{0xfd, 0x1f}, Inode: 1<<32 + 1,
			Path: "/tmp/new\nline  (deleted)", Deleted: true},
		{Start: 0xffffffffff600000, End: 0xffffffffff601000, Executable: true, Private: true, Path: "[vsyscall]"},
	}
	if d := diff.Of(want, got); d != "" {
		t.Errorf("mappings (-want +got):\n%s", d)
	}
	if at, ok := Address(got, File{daemon, 173521}, 0x51010); !ok || at != 0x400000+0x51010 {
		t.Errorf("address of offset 0x51010 is %#x, %t; want that of the first mapping that holds it", at, ok)
	}
	if _, ok := Address(got, File{daemon, 173521}, 0x52000); ok {
		t.Error("an offset behind every mapping has an address")
	}
}

func TestParseMapsRefuses(t *testing.T) {
	for _, line := range []string{
		"", "x", "1-2", "1-2 r-xp", "1-2 r-xp 0 0:0", "2-1 r-xp 0 0:0 0", "1-g r-xp 0 0:0 0 /x",
		"1-2 rxp 0 0:0 0 /x", "1-2 r-xp 0 00 0 /x", "1-2 r-xp 0 0:0 -1 /x", "11111111111111111-2 r-xp 0 0:0 0",
		strings.Repeat("x", maxLine+1),
	} {
		if m, err := ParseMaps(strings.NewReader(line + "\n")); err == nil {
			t.Errorf("%.40q is read as %+v", line, m)
		}
	}
}

func FuzzParseMaps(f *testing.F) {
	f.Add(someMaps)
	f.Add("1-2 r-xp 0 0:0 0\n")
	f.Fuzz(func(t *testing.T, s string) {
		maps, _ := ParseMaps(strings.NewReader(s))
		if len(maps) > strings.Count(s, "\n")+1 {
			t.Errorf("%d mappings from %d lines", len(maps), strings.Count(s, "\n")+1)
		}
		for i := range maps {
			if maps[i].End < maps[i].Start {
				t.Errorf("mapping %+v ends before it starts", maps[i])
			}
			if at, ok := Address(maps[i:i+1], maps[i].File(), maps[i].Offset); ok && at != maps[i].Start {
				t.Errorf("its first byte is at %#x, not its start %#x", at, maps[i].Start)
			}
		}
	})
}

func TestParseStat(t *testing.T) {
	got, err := parseStat("42 (a) R (b) S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 1000 2")
	if err != nil || got != (Stat{State: 'S', Start: 12345}) {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = parseStat("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 3 0 0")
	if err != nil || !got.Kernel {
		t.Errorf("a thread of the kernel: %+v, %v", got, err)
	}
	for _, s := range []string{"", "1 (x", "1 (x) S 1 2", "1 (x) SS " + strings.Repeat("1 ", 30), "1 (x) S " + strings.Repeat("x ", 30)} {
		if got, err := parseStat(s); err == nil {
			t.Errorf("%.30q is read as %+v", s, got)
		}
	}
}

func TestEffective(t *testing.T) {
	got, err := parseEffective("Name:\tx\nCapPrm:\tffff\nCapEff:\t000000c000200000\n")
	if err != nil || !got.Has(BPF) || !got.Has(Perfmon) || !got.Has(SysAdmin) || got.Has(SysPtrace) {
		t.Errorf("got %#x, %v", uint64(got), err)
	}
	if _, err := parseEffective("Name:\tx\n"); err == nil {
		t.Error("a status without capabilities is read")
	}
}

func TestThisProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc of Linux")
	}
	pid := os.Getpid()
	st, err := ReadStat(pid)
	if err != nil || st.Start == 0 || st.Kernel {
		t.Errorf("stat: %+v, %v", st, err)
	}
	maps, err := Maps(pid)
	if err != nil || len(maps) == 0 {
		t.Errorf("%d mappings, %v", len(maps), err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for i := range maps {
		found = found || maps[i].Executable && maps[i].Path == exe
	}
	if !found {
		t.Errorf("%s is not among the executable mappings", exe)
	}
	if _, err := ReadStat(1 << 30); !Gone(err) {
		t.Errorf("a process that cannot be: %v, want one that is gone", err)
	}
}
