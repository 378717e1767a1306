// Command arming does to its one marker what it is told to on standard input, a word a line,
// and answers with what came of it.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"

	"github.com/waymark-trace/waymark/marker"
)

var point = marker.New1[int]("arming:point", "n %d")

var (
	typed, named []*marker.Probe
	calls        int
)

func do(word string) error {
	switch word {
	case "arm":
		return point.Arm()
	case "disarm":
		return point.Disarm()
	case "arm-name":
		return marker.Arm("arming:point")
	case "disarm-name":
		return marker.Disarm("arming:point")
	case "register":
		p, err := point.Register(func(int) { calls++ })
		typed = append(typed, p)
		return err
	case "register-name":
		p, err := marker.Register("arming:point", "n %d", func(*marker.Event) { calls++ }, nil)
		named = append(named, p)
		return err
	case "unregister":
		return last(&typed)
	case "unregister-name":
		return last(&named)
	case "mark":
		calls = 0
		point.Mark(1)
		return nil
	}
	return fmt.Errorf("unknown word %q", word)
}

func last(list *[]*marker.Probe) error {
	if len(*list) == 0 {
		return errors.New("nothing registered")
	}
	(*list)[len(*list)-1].Unregister()
	*list = (*list)[:len(*list)-1]
	return nil
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		refused := do(in.Text()) != nil
		i := point.Info()
		fmt.Println(refused, point.Enabled(), i.Armed, i.Kernel, len(i.Probes), calls)
	}
}
