package place

import (
	"fmt"
	"os"
	"testing"

	"github.com/waymark-trace/waymark/internal/debuginfo"
	"github.com/waymark-trace/waymark/internal/simplesection"
	"github.com/waymark-trace/waymark/internal/variable"
	"github.com/waymark-trace/waymark/sdt"
)

func TestExplore(t *testing.T) {
	path := os.Getenv("EXPLORE")
	if path == "" {
		t.Skip()
	}
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := debuginfo.Open(r, path)
	if err != nil {
		t.Fatal(err)
	}
	records, _, err := simplesection.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := f.Section(simplesection.AddressSection)
	if err != nil {
		t.Fatal(err)
	}
	strs, err := sdt.ReadSection(path, simplesection.Section, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	ads, err := simplesection.ParseAddresses(data, strs)
	if err != nil {
		t.Fatal(err)
	}
	var marks []Mark
	for _, rec := range records {
		m := Mark{File: rec.File, Line: rec.Line}
		for _, a := range ads {
			if a.Record == rec {
				m.At = append(m.At, Address{a.Address, a.Size})
			}
		}
		marks = append(marks, m)
	}
	found, err := Find(f, marks)
	if err != nil {
		t.Fatal(err)
	}
	for i, rec := range records {
		fmt.Printf("%s line %d\n", rec.Name, rec.Line)
		for _, x := range found[i].Refused {
			fmt.Printf("   no %#x %v\n", x.Address, x.Err)
		}
		for _, x := range found[i].Places {
			fmt.Printf("   at %#x %v\n", x.Address, x.Cost)
			if x.Scope == nil {
				fmt.Println("      ", x.NoScope)
				continue
			}
			fr := variable.At(f, x.Scope, x.Address, rec.Line)
			for _, v := range simplesection.Split(rec.Variables) {
				l := fr.Lookup(v)
				for _, rd := range l.Readings(0) {
					tn := ""
					if rd.Type != nil {
						tn = rd.Type.Name
					}
					fmt.Printf("       %s %s: %s | %v ptr %v len %v %v\n", rd.Name, tn, l.Text, rd.Number, rd.Pointer, rd.Length, rd.Err)
				}
			}
		}
	}
}
