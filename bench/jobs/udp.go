package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"time"
)

// echo answers each packet with its sequence number and the same bytes.
func echo() (string, error) {
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return "", err
	}
	go func() {
		packet := make([]byte, 2048)
		for {
			n, from, err := c.ReadFromUDPAddrPort(packet)
			if err != nil {
				return
			}
			port := from.Port()
			packetReceived.Mark(port, n)
			if n < 8 {
				continue
			}
			sequence := binary.LittleEndian.Uint64(packet)
			packetDecoded.Mark(sequence)
			packetAnswer.Mark(sequence)
			n, err = c.WriteToUDPAddrPort(packet[:n], from)
			if err == nil {
				packetSent.Mark(port, n)
			}
		}
	}()
	return c.LocalAddr().String(), nil
}

// flood sends a packet as soon as the one before has come back, as ping -f does, and returns how many
// that were and the nanoseconds they took.
func flood(address string, milliseconds int) (string, error) {
	c, err := net.Dial("udp", address)
	if err != nil {
		return "", err
	}
	defer c.Close()
	packet := make([]byte, 64)
	start, long := time.Now(), time.Duration(milliseconds)*time.Millisecond
	if err := c.SetDeadline(start.Add(long + 10*time.Second)); err != nil {
		return "", err
	}
	for n := uint64(0); ; n++ {
		if took := time.Since(start); took >= long && n > 0 {
			return fmt.Sprint(n, took.Nanoseconds()), nil
		}
		binary.LittleEndian.PutUint64(packet, n)
		if _, err := c.Write(packet); err != nil {
			return "", err
		}
		if _, err := c.Read(packet); err != nil {
			return "", err
		}
		if got := binary.LittleEndian.Uint64(packet); got != n {
			return "", fmt.Errorf("packet %d came back as %d", n, got)
		}
	}
}
