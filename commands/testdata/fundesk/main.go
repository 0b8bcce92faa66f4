// Command fundesk is the program that the scripts run. Unlike the real one, it can shift its clock, and its version is
// always "test".
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"fundesk/commands"
	"fundesk/service/embedded"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	signal.Ignore(syscall.SIGPIPE)
	shift, _ := time.ParseDuration(os.Getenv("FUNDESK_TEST_SHIFT"))
	now := func() time.Time { return time.Now().Add(shift) }
	os.Exit(commands.Run(ctx, os.Args[1:], commands.App{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Now: now,
		Version:            func() string { return "test" },
		CompletionPatience: 20 * time.Second, // A busy machine is not what is tested.
		OpenEmbedded: func(ctx context.Context, name, dataDir string) (commands.Embedded, error) {
			if err := os.MkdirAll(dataDir, 0o700); err != nil {
				return nil, err
			}
			path := filepath.Join(dataDir, name+".db")
			return embedded.Open(ctx, embedded.Options{Path: path, Sample: name == "demo", Now: now})
		},
	}))
}
