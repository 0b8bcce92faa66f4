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

// Of a copy: persons of the sample, who have 100,000 calls, and how often each contestant runs.
const (
	copyPersons = 66_000
	copyRuns    = 5
)

// cost is what a command takes.
type cost struct{ elapsed, processor time.Duration }

func (c cost) plus(other cost) cost {
	return cost{c.elapsed + other.elapsed, c.processor + other.processor}
}

// String returns both in seconds.
func (c cost) String() string {
	return fmt.Sprintf("%.1f s; %.1f s", c.elapsed.Seconds(), c.processor.Seconds())
}

// copies compares a first sync with pulling the same records into files.
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

	var pulls, syncs []cost
	for range copyRuns {
		var pull cost
		for _, args := range [][]string{
			{"pull", "person", "--reset", "-q"},
			{"pull", "call", "--reset", "-q"},
			{"pull", "pledge", "--updated", "--include", "person,transactions", "--reset", "-q"},
		} {
			one, err := p.cost(folder, args...)
			if err != nil {
				return err
			}
			pull = pull.plus(one)
		}
		if _, err := p.cost(folder, "copy", "remove", "--yes", "-q"); err != nil { // Each sync is a first one.
			return err
		}
		sync, err := p.cost(folder, "copy", "sync")
		if err != nil {
			return err
		}
		pulls, syncs = append(pulls, pull), append(syncs, sync)
	}
	sync, pull := least(syncs), least(pulls)
	fmt.Printf(
		"| first `copy sync`, 100,000 calls, elapsed; processor | %s | `pull` %s | %.2f; %.2f | ≤ 1.3 elapsed |\n",
		sync,
		pull,
		ratio(sync.elapsed, pull.elapsed),
		ratio(sync.processor, pull.processor),
	)
	return nil
}

// cost returns the cost of a command whose output goes to a file.
func (p programs) cost(folder string, args ...string) (cost, error) {
	file, err := os.Create(filepath.Join(folder, "out"))
	if err != nil {
		return cost{}, err
	}
	command := exec.Command(p.fundesk, args...)
	command.Env, command.Stdout, command.Stderr = p.environment(), file, os.Stderr
	started := time.Now()
	err = command.Run()
	elapsed := time.Since(started)
	if err := errors.Join(err, file.Close()); err != nil {
		return cost{}, fmt.Errorf("%v: %w", args, err)
	}
	return cost{elapsed, command.ProcessState.UserTime() + command.ProcessState.SystemTime()}, nil
}

// least returns the shortest times: what other processes add is not part of them.
func least(costs []cost) cost {
	shortest := costs[0]
	for _, c := range costs {
		shortest.elapsed = min(shortest.elapsed, c.elapsed)
		shortest.processor = min(shortest.processor, c.processor)
	}
	return shortest
}
