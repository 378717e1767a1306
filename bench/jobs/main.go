// Command jobs does work as programs do it, with markers in it: it answers requests over HTTP, echoes
// packets, and reads and checks Go source as a compiler does. With the build tag nomarkers it has none.
//
// It reads commands, one a line, and answers each with a line:
//
//	http     serves HTTP: the address
//	udp      echoes packets: the address
//	flood ADDRESS MS  sends such packets and awaits them, for so long: how many, and the nanoseconds
//	compile  reads, checks and translates package fmt and what it imports: the nanoseconds that took
//	arm      connects an empty probe to every marker: "ok"
//	disarm   disconnects them: "ok"
//	hits     how often markers were passed while armed
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		answer, err := obey(in.Text())
		if err != nil {
			fmt.Fprintf(os.Stderr, "jobs: %s: %v\n", in.Text(), err)
			os.Exit(1)
		}
		fmt.Println(answer)
	}
}

func obey(command string) (string, error) {
	var address string
	var milliseconds int
	if n, _ := fmt.Sscanf(command, "flood %s %d", &address, &milliseconds); n == 2 {
		return flood(address, milliseconds)
	}
	switch command {
	case "http":
		return serveHTTP()
	case "udp":
		return echo()
	case "compile":
		start := time.Now()
		err := compile("fmt")
		return strconv.FormatInt(time.Since(start).Nanoseconds(), 10), err
	case "arm":
		return "ok", arm()
	case "disarm":
		return "ok", disarm()
	case "hits":
		return strconv.FormatUint(hits(), 10), nil
	}
	return "", errors.New("no such command")
}
