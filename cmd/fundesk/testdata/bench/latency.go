package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// latency walks 10,000 calls over a slow line. The yardstick is a round trip a page, and
// of the first record one round trip.
func (p programs) latency(runs int) error {
	defer func() { p.list.latency = 0 }()
	p.list.calls = 10_000
	pages := p.list.calls / pageSize
	for _, wait := range []time.Duration{20 * time.Millisecond, 80 * time.Millisecond} {
		p.list.latency = wait
		all, err := turns(runs,
			p.command([]string{p.fundesk, "call", "list", "--all", "-o", "ndjson"}),
			p.command([]string{p.floor, "pass", p.list.URL + "/api/v1/calls"}),
			p.list.trip)
		if err != nil {
			return err
		}
		own, floor, trip := all[0], all[1], all[2].wall
		least := time.Duration(pages) * trip
		row(fmt.Sprintf("10,000 calls at %s", wait), ms(own.wall),
			fmt.Sprintf("%d × round trip of %s: %s", pages, ms(trip), ms(least)), ratio(own.wall, least), "≤ 1.05")
		fmt.Printf("| first record at %s | %s | round trip %s, floor %s | round trip + %s | ≤ 7 ms |\n",
			wait, ms(own.first), ms(trip), ms(floor.first), ms(own.first-trip))
	}
	return nil
}

// trips is of how many round trips one turn takes the median.
const trips = 20

// trip measures the round trip of this server: from a request for a page on a connection that is
// kept to the first byte of its answer, of which only the head is sent. So it holds the
// latency and what the machine adds to that, and nothing of the transfer of a page.
func (l *list) trip() (o outcome, err error) {
	conn, err := net.Dial("tcp", l.Listener.Addr().String())
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	request, err := http.NewRequest(http.MethodHead, l.URL+"/api/v1/calls", http.NoBody)
	if err != nil {
		return o, err
	}
	in := bufio.NewReader(conn)
	var all []outcome
	for n := range trips + 1 {
		started := time.Now()
		if err := request.Write(conn); err != nil {
			return o, err
		}
		if _, err := in.Peek(1); err != nil {
			return o, err
		}
		if n > 0 { // The first one pays for the connection.
			all = append(all, outcome{wall: time.Since(started)})
		}
		answer, err := http.ReadResponse(in, request)
		if err != nil {
			return o, err
		}
		if err := answer.Body.Close(); err != nil {
			return o, err
		}
	}
	return medians(all), nil
}
