// Command bench measures the command line beside the least that is possible, in turns,
// and prints a table: what each row took, its yardstick, and their ratio.
//
//	go run ./cmd/fundesk/testdata/bench
//
// The yardsticks are testdata/bare, testdata/floor, testdata/hello and curl, and over a slow line the round
// trip of the very server that is walked, measured in the same turns: what a timer of the
// machine adds to a wait belongs to the line. Wall times are medians; ratios are of those.
// Run it on an idle machine.
//
// Memory is the resident set at its largest, as GNU time reports it: the pages of the
// program and of libraries that were touched are in it, and how many of them come at once
// differs from one kernel to the next. So it is told beside that of the yardstick, too: the
// floor keeps one page of the list, fundesk the next one as well.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const interrupt = syscall.SIGINT

func main() {
	calls := flag.Int("calls", 100_000, "calls of the long list")
	runs := flag.Int("runs", 9, "how often each long run is repeated; start-up ten times as often")
	only := flag.String("only", "", "one part: startup, one, walk, latency, import, copy or terminal")
	flag.Parse()
	if err := bench(*calls, *runs, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// programs lists the programs that are measured.
type programs struct {
	folder, fundesk, bare, floor string
	list                         *list
	url, token                   string // Of the service that is asked.
}

func bench(calls, runs int, only string) (err error) {
	folder, err := os.MkdirTemp("", "fundesk-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	build := exec.Command("go", "build", "-o", folder+"/", "fundesk/cmd/fundesk", "fundesk/cmd/fundeskd",
		"fundesk/cmd/fundesk/testdata/bare", "fundesk/cmd/fundesk/testdata/floor")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	l, err := newList(filepath.Join(folder, "fundeskd"))
	if err != nil {
		return fmt.Errorf("make the list: %w", err)
	}
	defer l.Close()
	p := programs{
		folder:  folder,
		list:    l,
		url:     l.URL,
		token:   "bench",
		fundesk: filepath.Join(folder, "fundesk"),
		bare:    filepath.Join(folder, "bare"),
		floor:   filepath.Join(folder, "floor"),
	}
	fmt.Println("| what | fundesk | yardstick | ratio | goal |\n|---|---|---|---|---|")
	type part struct {
		name string
		run  func() error
	}
	parts := []part{
		{"startup", func() error { return p.startup(10 * runs) }},
		{"one", func() error { return p.one(10 * runs) }},
	}
	for _, w := range walks() {
		parts = append(parts, part{"walk " + w.name, func() error { return p.walk(w, calls, runs) }})
	}
	parts = append(
		parts,
		part{"latency", func() error { return p.latency(runs) }},
		part{"import", func() error { return p.imports(runs) }},
		part{"copy", p.copies},
		part{"terminal", p.terminal},
	)
	for _, part := range parts {
		if only == "" || slices.Contains(strings.Fields(part.name), only) {
			err = errors.Join(err, part.run())
		}
	}
	return err
}

// outcome is the cost of one run.
type outcome struct {
	wall   time.Duration
	first  time.Duration // Until the first byte of output.
	memory float64       // At its most, in MB; 0 without GNU time.
}

// timer measures memory: a child of this program would begin with this one's.
const timer = "/usr/bin/time"

// run runs a program to its end; its output is read and forgotten.
func (p programs) run(program string, args ...string) (outcome, error) {
	command := exec.Command(program, args...)
	command.Env = p.environment()
	out, err := command.StdoutPipe()
	if err != nil {
		return outcome{}, err
	}
	var errs bytes.Buffer
	command.Stderr = &errs
	started := time.Now()
	if err := command.Start(); err != nil {
		return outcome{}, err
	}
	var o outcome
	_, err = out.Read(make([]byte, 1))
	o.first = time.Since(started)
	if err == nil {
		_, err = io.Copy(io.Discard, out)
	} else if errors.Is(err, io.EOF) {
		err = nil
	}
	if err := errors.Join(err, command.Wait()); err != nil {
		return outcome{}, fmt.Errorf("%s %v: %w: %s", filepath.Base(program), args, err, errs.String())
	}
	o.wall = time.Since(started)
	if program == timer {
		lines := strings.Fields(errs.String())
		kilobytes, err := strconv.ParseFloat(lines[len(lines)-1], 64)
		if err != nil {
			return outcome{}, fmt.Errorf("read what %s printed: %w", timer, err)
		}
		o.memory = kilobytes / 1000
	}
	return o, nil
}

// environment returns the environment of every program.
func (p programs) environment() []string {
	return append(os.Environ(), "HOME="+p.folder, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=",
		"FUNDESK_PROFILE=", "FUNDESK_BASE_URL="+p.url, "FUNDESK_TOKEN="+p.token)
}

// contest runs two command lines in turns, and is the medians of both.
func (p programs) contest(runs int, own, yardstick []string) (a, b outcome, err error) {
	both, err := turns(runs, p.command(own), p.command(yardstick))
	if err != nil {
		return a, b, err
	}
	return both[0], both[1], nil
}

// weighings is of how many runs a memory is the median.
const weighings = 5

// weigh returns the memory that two command lines take, in MB, or 0 without GNU time.
func (p programs) weigh(own, yardstick []string) (a, b float64, err error) {
	if _, err := exec.LookPath(timer); err != nil {
		return 0, 0, nil
	}
	under := []string{timer, "-f", "%M"}
	x, y, err := p.contest(weighings, slices.Concat(under, own), slices.Concat(under, yardstick))
	return x.memory, y.memory, err
}

// command returns a command line that takes turns with others.
func (p programs) command(args []string) func() (outcome, error) {
	return func() (outcome, error) { return p.run(args[0], args[1:]...) }
}

// turns lets contestants take turns, and is the medians of each. The first turn warms up.
func turns(runs int, contestants ...func() (outcome, error)) ([]outcome, error) {
	all := make([][]outcome, len(contestants))
	for turn := range runs + 1 {
		for i, contestant := range contestants {
			o, err := contestant()
			if err != nil {
				return nil, err
			}
			if turn > 0 {
				all[i] = append(all[i], o)
			}
		}
	}
	middle := make([]outcome, len(all))
	for i := range all {
		middle[i] = medians(all[i])
	}
	return middle, nil
}

func medians(all []outcome) outcome {
	var o outcome
	middle := len(all) / 2
	slices.SortFunc(all, func(a, b outcome) int { return int(a.wall - b.wall) })
	o.wall = all[middle].wall
	slices.SortFunc(all, func(a, b outcome) int { return int(a.first - b.first) })
	o.first = all[middle].first
	slices.SortFunc(all, func(a, b outcome) int { return cmp.Compare(a.memory, b.memory) })
	o.memory = all[middle].memory
	return o
}

func row(what, own, yardstick string, ratio float64, goal string) {
	fmt.Printf("| %s | %s | %s | %.2f | %s |\n", what, own, yardstick, ratio, goal)
}

func mb(megabytes float64) string { return fmt.Sprintf("%.1f MB", megabytes) }

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

func (p programs) startup(runs int) error {
	for _, args := range [][]string{{"version"}, {"--help"}, {"__complete", "call", "list", "--st"}} {
		command, yardstick := append([]string{p.fundesk}, args...), []string{p.bare, "version"}
		own, bare, err := p.contest(runs, command, yardstick)
		if err != nil {
			return err
		}
		memory, least, err := p.weigh(command, yardstick)
		if err != nil {
			return err
		}
		row("`fundesk "+args[0]+"`", ms(own.wall), "bare cobra "+ms(bare.wall), ratio(own.wall, bare.wall), "≤ 1.7")
		row("memory, `fundesk "+args[0]+"`", mb(memory), "bare cobra "+mb(least), memory/least, "≤ 3.3, ≤ 10 MB")
	}
	return nil
}

func (p programs) one(runs int) error {
	path := p.list.URL + "/api/v1/calls/" + p.list.uuid
	own := []string{p.fundesk, "call", "get", p.list.uuid, "-o", "json"}
	a, b, err := p.contest(runs, own, []string{p.floor, "get", path})
	if err != nil {
		return err
	}
	row("one call", ms(a.wall), "floor "+ms(b.wall), ratio(a.wall, b.wall), "")
	if _, err := exec.LookPath("curl"); err != nil {
		return nil
	}
	curl := []string{"curl", "-sS", "-H", "Authorization: Bearer bench", path}
	a, b, err = p.contest(runs, own, curl)
	if err != nil {
		return err
	}
	row("one call", ms(a.wall), "curl "+ms(b.wall), ratio(a.wall, b.wall), "≤ 0.7")
	return nil
}

// walked is a long list as one command prints it, and the mode of the floor that does as
// much with each record.
type walked struct {
	name, floor, goal string
	args              []string
}

func walks() []walked {
	return []walked{
		{"ndjson", "pass", "≥ 0.65", []string{"call", "list", "--all", "-o", "ndjson"}},
		{"csv", "typed", "≥ 0.75", []string{"call", "list", "--all", "-o", "csv"}},
		{"table", "typed", "≥ 0.75", []string{"call", "list", "--all", "-o", "table"}},
		{"pull", "pass", "≥ 0.65", []string{"pull", "call"}},
		{"stats", "typed", "≥ 0.75", []string{"call", "stats"}},
	}
}

func (p programs) walk(w walked, calls, runs int) error {
	command := append([]string{p.fundesk}, w.args...)
	yardstick := []string{p.floor, w.floor, p.list.URL + "/api/v1/calls"}
	p.list.calls = 1000
	short, _, err := p.weigh(command, yardstick)
	if err != nil {
		return err
	}
	p.list.calls = calls
	memory, least, err := p.weigh(command, yardstick)
	if err != nil {
		return err
	}
	own, floor, err := p.contest(runs, command, yardstick)
	if err != nil {
		return err
	}
	what := "`" + strings.Join(w.args[max(0, len(w.args)-2):], " ") + "`"
	speed := func(o outcome) string { return fmt.Sprintf("%.0f,000/s", float64(calls)/o.wall.Seconds()/1000) }
	row(thousands(calls)+" calls, "+what, speed(own), "floor "+speed(floor), ratio(floor.wall, own.wall), w.goal)
	row("memory, "+what, fmt.Sprintf("%s at 1,000, %s at %s", mb(short), mb(memory), thousands(calls)),
		"floor "+mb(least), memory/least, "flat, ≤ 1.73, ≤ 18 MB")
	return nil
}

func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
