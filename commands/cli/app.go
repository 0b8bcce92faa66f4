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
	// Agent returns the user at the Desk, or zero.
	Agent() apitype.UUID
	// Work has the invented colleagues of sample data work until the context ends.
	Work(ctx context.Context)
	Close() error
}

// App is the environment of the commands.
type App struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer

	Getenv func(string) string
	Now    func() time.Time
	// ZoneError is set if TZ names a zone that cannot be loaded. Only help, version and completion run then.
	ZoneError error
	Version   func() string // Asked when it is shown or sent.

	// OpenEmbedded opens the service of an embedded: base URL. name is the part after the colon. Nil if there is none.
	OpenEmbedded func(ctx context.Context, name, dataDir string) (Embedded, error)

	// WatchSignals lets an interrupt end the context, and a closed pipe cause an error. Nil if the caller does that.
	// Commands that only print leave it out: it takes a tenth of the start-up time.
	WatchSignals func()

	// Sleep waits between two tries of a request. Nil uses a timer.
	Sleep func(ctx context.Context, d time.Duration) error

	// HomeDir returns the user's folder according to the system, if HOME is not set. Nil uses os/user.
	HomeDir func() (string, error)

	// CompletionPatience limits the time for completion values. Zero means a second.
	CompletionPatience time.Duration
}
