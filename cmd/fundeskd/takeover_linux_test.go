package main

import (
	"flag"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// takeovers are the events for the cluster of TestTakeovers. It needs the machine for itself: a server that waits too
// long for a processor counts as silent.
var takeovers = flag.String("takeovers", "",
	"the events of TestTakeovers, with commas between them, or all; without any it is skipped")

// TestTakeovers serves by two processes that reach three servers under Patroni by HAProxy and by
// PgBouncer. Whatever happens to one of the servers, they all take changes again by
// themselves, and no change that was acknowledged is lost, or made twice.
func TestTakeovers(t *testing.T) {
	if *takeovers == "" {
		t.Skip("it is asked for by -takeovers")
	}
	p := newPatroni(t)
	e := newFileEnvironment(t)
	ways := p.ways()
	e.database = ways[0]
	var organization, account struct{ UUID, Token string }
	e.must(&organization, "organization add --name A --abbreviation A")
	e.must(&account, "account add a --all-organizations")
	var urls []string
	for _, way := range ways {
		running := e.child("FUNDESKD_DATABASE=" + way)
		t.Cleanup(func() { kill(running.command) })
		urls = append(urls, running.url)
	}
	l := newLedger(t, organization.UUID, account.Token, urls...)
	end := l.write(2)
	defer end()
	l.more(20)
	for _, event := range p.events() {
		if *takeovers != "all" && !slices.Contains(strings.Split(*takeovers, ","), event.name) {
			continue
		}
		p.await("a whole cluster", p.whole)
		l.gaps()
		repair := event.happen()
		l.more(20)
		repair()
		l.more(20)
		t.Logf("%s: without a change for %v by proxy, pooler", event.name, l.gaps())
		if t.Failed() {
			return
		}
	}
	end()
	for _, url := range urls {
		l.verify(url)
	}
}

// event is one fault of a server.
type event struct {
	name   string
	happen func() (repair func())
}

// events returns the faults that a cluster survives.
func (p *patroni) events() []event {
	return []event{
		{"switchover", func() func() {
			p.switchOver(p.with("leader"))
			return func() {}
		}},
		{"postgres killed", func() func() {
			p.signalPostgres(p.with("leader"), syscall.SIGKILL)
			return func() {}
		}},
		{"Patroni killed", func() func() {
			leader := p.with("leader")
			kill(p.agents[leader])
			p.await("another leader", p.ledByOther(leader))
			return func() { p.startPatroni(leader) }
		}},
		{"leader stopped", func() func() {
			leader := p.with("leader")
			stop := func(signal syscall.Signal) {
				p.signalPostgres(leader, signal)
				_ = p.agents[leader].Process.Signal(signal)
			}
			stop(syscall.SIGSTOP)
			p.await("another leader", p.ledByOther(leader))
			return func() { stop(syscall.SIGCONT) }
		}},
		{"standby killed", func() func() {
			standby := p.with("sync_standby")
			kill(p.agents[standby])
			p.signalPostgres(standby, syscall.SIGKILL)
			return func() { p.startPatroni(standby) }
		}},
		{"etcd member killed", func() func() {
			kill(p.etcd[0])
			return func() { p.startEtcd(0) }
		}},
	}
}

// ledByOther reports whether the leader has changed.
func (p *patroni) ledByOther(before int) func() bool {
	return func() bool {
		leader := p.with("leader")
		return leader >= 0 && leader != before
	}
}
