package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"fundesk/service"
	"fundesk/service/embedded"
	"fundesk/service/sqlstore"
)

// Programs returns a folder with fundesk and fundeskd, built once for all tests. They are not slowed down by what the
// tests themselves are built with.
var Programs = sync.OnceValues(func() (folder string, err error) {
	programs, err = os.MkdirTemp("", "fundesk-script")
	if err != nil {
		return "", err
	}
	out, err := exec.Command(
		"go", "build", "-ldflags=-w", "-o", programs+string(filepath.Separator),
		"fundesk/commands/testdata/fundesk", "fundesk/cmd/fundeskd",
	).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return programs, err
})

// programs is the folder of Programs. Empty if it was not used.
var programs string

// RemovePrograms removes what the tests built.
func RemovePrograms() {
	if programs != "" {
		os.RemoveAll(programs)
	}
}

// sampleDemo is a folder with a demo's database, made once for all tests that do not
// look at how it is made.
var sampleDemo = sync.OnceValues(func() (string, error) {
	folder, err := Programs()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(folder, "demo")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return dir, fillDemo(filepath.Join(dir, "demo.db"))
})

// fillDemo makes the demo's records of the tests' day.
func fillDemo(path string) (err error) {
	store, err := sqlstore.Open(context.Background(), sqlstore.Options{Database: "sqlite:" + path})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	rules, err := service.New(context.Background(), service.Options{Store: store, Now: DemoNow})
	if err != nil {
		return err
	}
	return rules.LoadIfEmpty(context.Background(), func(add func(service.LoadRecord) error) error {
		return embedded.Sample(embedded.SampleOptions{Persons: 300, Now: DemoNow()}, add)
	})
}

// DemoShift is the difference between the demo's clock in tests and the machine's: its records depend on the day and
// the hour, and the tests' questions must not.
var DemoShift = time.Until(time.Date(2026, 6, 17, 13, 0, 0, 0, time.UTC))

// DemoNow returns the time on that clock, a Wednesday's afternoon, which goes on.
func DemoNow() time.Time { return time.Now().Add(DemoShift) }

// CopyDemo gives a home folder the demo's data.
func CopyDemo(home string) error {
	from, err := sampleDemo()
	if err != nil {
		return err
	}
	to := filepath.Join(home, ".local", "share", "fundesk")
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(to, "*.db")) // Copied for everybody to read.
	for _, file := range files {
		err = errors.Join(err, os.Chmod(file, 0o600))
	}
	return err
}
