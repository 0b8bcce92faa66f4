// Package cli is what every command of fundesk uses: the App that it runs in, the Session of one
// command line with its flags, the service and account that it works with (Target), how it prints,
// asks and tells an error, and how words are completed. It knows no command.
package cli

import (
	"context"
	"io"
	"net/http"
	"time"

	"fundesk/apiclient/apitype"
)

// Embedded is a service inside the process.
type Embedded interface {
	http.RoundTripper
	Token() string
	// Agent is the user who the person at the desk is, zero for none.
	Agent() apitype.UUID
	// Work has the invented colleagues of sample data work until the context ends.
	Work(ctx context.Context)
	Close() error
}

// App is what the commands need from their surroundings.
type App struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer

	Getenv func(string) string
	Now    func() time.Time
	// ZoneError is set if TZ names a zone that cannot be loaded. Only help, version and completion run then.
	ZoneError error
	Version   func() string // Asked when it is shown or sent.

	// OpenEmbedded opens the service of an embedded: base URL; name is what follows the
	// colon. Nil: there is none.
	OpenEmbedded func(ctx context.Context, name, dataDir string) (Embedded, error)

	// WatchSignals makes an interrupt end the context from here on, and a closed pipe an
	// error; nil: who calls has seen to it. Commands that only print do without: it costs
	// a tenth of a start.
	WatchSignals func()

	// Sleep waits between two tries of a request; nil: a timer.
	Sleep func(ctx context.Context, d time.Duration) error

	// HomeDir is the user's folder as the system knows it, asked where HOME says nothing;
	// nil: os/user.
	HomeDir func() (string, error)

	// CompletionPatience is how long values for completion may take; zero: a second.
	CompletionPatience time.Duration
}
