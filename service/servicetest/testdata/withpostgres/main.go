// Command withpostgres runs a command beside a throw-away PostgreSQL server, which it names
// to it in FUNDESK_TEST_POSTGRES: all tests that make a service then make it there.
//
//	go run ./service/servicetest/testdata/withpostgres go test ./service/... ./cmd/... ./commands
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"fundesk/service/servicetest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "withpostgres:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	if len(args) == 0 {
		return errors.New("which command?")
	}
	server, end, err := servicetest.StartPostgres(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.Env = append(os.Environ(), servicetest.PostgresVariable+"="+server)
	return command.Run()
}
