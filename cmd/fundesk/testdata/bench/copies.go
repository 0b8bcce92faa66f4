package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// Of a copy: persons of the sample, and how often each contestant runs.
const (
	copyPersons = 20_000
	copyRuns    = 3
)

// copies compares the processor time of a first sync with that of pulling the same records.
func (p programs) copies() (err error) {
	folder := filepath.Join(p.folder, "copy")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	d := p.database(filepath.Join(folder, "fundeskd.db"))
	if out, err := d.command("sample", "--persons", strconv.Itoa(copyPersons)).CombinedOutput(); err != nil {
		return fmt.Errorf("make the sample: %w: %s", err, out)
	}
	server, err := d.serve()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	p.url, p.token = server.url, server.token

	var pulls, syncs []time.Duration
	for range copyRuns {
		var pull time.Duration
		for _, args := range [][]string{
			{"pull", "person", "--reset", "-q"},
			{"pull", "call", "--reset", "-q"},
			{"pull", "pledge", "--updated", "--include", "person,transactions", "--reset", "-q"},
		} {
			one, err := p.processor(folder, args...)
			if err != nil {
				return err
			}
			pull += one
		}
		if _, err := p.processor(folder, "copy", "remove", "--yes", "-q"); err != nil { // Each sync is a first one.
			return err
		}
		sync, err := p.processor(folder, "copy", "sync")
		if err != nil {
			return err
		}
		pulls, syncs = append(pulls, pull), append(syncs, sync)
	}
	sync, pull := least(syncs), least(pulls)
	what := fmt.Sprintf("`copy sync`, %s persons, processor time", thousands(copyPersons))
	row(what, ms(sync), "`pull` of the same records "+ms(pull), ratio(sync, pull), "≤ 1.3")
	return nil
}

// processor returns the processor time of a command whose output goes to a file.
func (p programs) processor(folder string, args ...string) (time.Duration, error) {
	file, err := os.Create(filepath.Join(folder, "out"))
	if err != nil {
		return 0, err
	}
	command := exec.Command(p.fundesk, args...)
	command.Env, command.Stdout, command.Stderr = p.environment(), file, os.Stderr
	if err := errors.Join(command.Run(), file.Close()); err != nil {
		return 0, fmt.Errorf("%v: %w", args, err)
	}
	return command.ProcessState.UserTime() + command.ProcessState.SystemTime(), nil
}

// least returns the shortest time: what other processes add is not part of it.
func least(times []time.Duration) time.Duration {
	shortest := times[0]
	for _, t := range times {
		shortest = min(shortest, t)
	}
	return shortest
}
