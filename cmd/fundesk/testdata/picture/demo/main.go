// Command demo runs fundesk at a fixed time, so that two pictures of its sample data differ only in the screens.
package main

import (
	"context"
	"os"
	"path/filepath"
	"time"
	_ "time/tzdata"

	"fundesk/commands"
	"fundesk/service/embedded"
)

func main() {
	shift := time.Until(time.Date(2026, time.June, 17, 13, 0, 0, 0, time.UTC))
	now := func() time.Time { return time.Now().Add(shift) }
	os.Exit(commands.Run(context.Background(), os.Args[1:], commands.App{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Now: now,
		Version: func() string { return "" },
		OpenEmbedded: func(ctx context.Context, name, dataDir string) (commands.Embedded, error) {
			if err := os.MkdirAll(dataDir, 0o700); err != nil {
				return nil, err
			}
			s, err := embedded.Open(
				ctx,
				embedded.Options{Path: filepath.Join(dataDir, name+".db"), Sample: true, Now: now},
			)
			return still{s}, err
		},
	}))
}

// still is the demo without colleagues. They would take the calls of a picture.
type still struct{ *embedded.Service }

func (still) Work(context.Context) {}
