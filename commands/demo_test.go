package commands

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"fundesk/service"
	"fundesk/service/embedded"
	"fundesk/service/sqlstore"
)

// Server is fundeskd, built once for all tests; it is not slowed down by what the tests
// themselves are built with.
var Server = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "fundesk-script")
	if err != nil {
		return "", err
	}
	serverDir = dir
	path := filepath.Join(dir, "fundeskd")
	out, err := exec.Command("go", "build", "-ldflags=-w", "-o", path, "fundesk/cmd/fundeskd").CombinedOutput()
	if err != nil {
		os.Stderr.Write(out)
	}
	return path, err
})

// sampleDemo is a folder with a demo's database, made once for all tests that do not
// look at how it is made.
var sampleDemo = sync.OnceValues(func() (string, error) {
	server, err := Server()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(filepath.Dir(server), "demo")
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

// serverDir is the folder of Server's build. Empty if it was not used.
var serverDir string

// RemoveServer removes what the tests built.
func RemoveServer() {
	if serverDir != "" {
		os.RemoveAll(serverDir)
	}
}
