// Command fundesk is the command line and the terminal interface of a Fundraising Data
// Service. It wires the commands with the embedded service and does nothing else.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"fundesk/cmd/internal/release"
	"fundesk/cmd/internal/zone"
	"fundesk/commands"
	"fundesk/service/embedded"
)

func main() {
	// Logs of libraries quote the data that they read: net/http quotes unexpected answers.
	log.SetOutput(io.Discard)
	ctx, stop := context.WithCancelCause(context.Background())
	os.Exit(commands.Run(ctx, os.Args[1:], commands.App{
		In:           os.Stdin,
		Out:          os.Stdout,
		Err:          os.Stderr,
		Getenv:       os.Getenv,
		Now:          time.Now,
		Version:      func() string { return release.Version },
		ZoneError:    zone.Set(os.Getenv),
		OpenEmbedded: openEmbedded(os.Stderr),
		WatchSignals: func() {
			signals := make(chan os.Signal, 1)
			signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
			go func() {
				received := <-signals
				signal.Stop(signals) // The second one ends the process, whatever that waits for.
				if received == syscall.SIGTERM {
					stop(commands.ErrTerminated)
				}
				stop(nil)
			}()
			// A closed pipe is an error of one write, not the end of the program: a bulk
			// change must not stop half way because its output goes to head.
			signal.Ignore(syscall.SIGPIPE)
		},
	}))
}

// demo is the embedded service that is filled with sample data when it is new.
const demo = "demo"

var errName = errors.New("an embedded service is demo, another name, or the path of a file")

// openEmbedded opens the service of a base URL embedded:NAME or embedded:PATH.
func openEmbedded(progress *os.File) func(context.Context, string, string) (commands.Embedded, error) {
	return func(ctx context.Context, name, dataDir string) (commands.Embedded, error) {
		if name == "" || name == "." || name == ".." {
			return nil, errName
		}
		path := name
		if !strings.ContainsRune(name, filepath.Separator) {
			path = filepath.Join(dataDir, name+".db")
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		told := false
		service, err := embedded.Open(ctx, embedded.Options{
			Path: path, Sample: name == demo,
			Progress: func(done, total int) {
				if info, err := progress.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
					fmt.Fprintf(progress, "\rpreparing sample data: %d of %d", done, total)
					told = true
				}
			},
		})
		if told {
			fmt.Fprint(progress, "\r\x1b[K")
		}
		return service, err
	}
}
