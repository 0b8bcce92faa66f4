package cli

import (
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/profile"
	"fundesk/render"
)

// globals are the flags that every command has.
type globals struct {
	Profile   string
	BaseURL   string
	Output    string
	Columns   []string
	SortBy    string
	JQ        string
	Arguments []string // Of the jq expression, NAME=VALUE each.
	Timeout   time.Duration
	Retries   int
	caCert    string
	NoInput   bool
	NoColor   bool
	Quiet     bool
	debug     bool
	excel     string
	UTC       bool
}

// Register declares the flags.
func (g *globals) Register(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&g.Profile, "profile", "", "profile to use (FUNDESK_PROFILE)")
	f.StringVar(&g.BaseURL, "base-url", "", "address of the service (FUNDESK_BASE_URL)")
	f.StringVarP(
		&g.Output,
		"output",
		"o",
		"",
		"table, wide, tsv, csv, json, ndjson or id (default: table on a terminal, tsv in a pipe)",
	)
	f.StringSliceVar(
		&g.Columns,
		"columns",
		nil,
		"columns of table, tsv and csv: their csv names, or any path of the JSON",
	)
	f.StringVar(
		&g.SortBy,
		"sort-by",
		"",
		"sort everything that matches by this column (-COLUMN: descending), then apply --limit",
	)
	f.StringVar(&g.JQ, "jq", "", "jq expression over the output; implies -o json")
	f.StringArrayVar(&g.Arguments, "arg", nil, "jq: NAME VALUE, a text for the expression under $NAME (repeatable)")
	f.DurationVar(&g.Timeout, "timeout", apiclient.DefaultTimeout, "longest time for one request")
	f.IntVar(&g.Retries, "retry", defaultRetries, "how often a safe request is retried, 0 to 10")
	f.StringVar(&g.caCert, "ca-cert", "", "file of certificates (PEM) to trust in addition to the system's")
	f.BoolVar(&g.NoInput, "no-input", false, "never ask")
	f.BoolVar(&g.NoColor, "no-color", false, "no colours (NO_COLOR)")
	f.BoolVarP(&g.Quiet, "quiet", "q", false, "no notes on stderr")
	f.BoolVar(&g.debug, "debug", false, "show requests and answers on stderr, masked")
	f.BoolVar(&g.UTC, "utc", false, "tables: show times in UTC, not in the local zone")
	f.StringVar(
		&g.excel,
		"for-excel",
		"",
		"csv: as Excel of this country opens it, such as NL, DE, FR or EN, with no cell read as a formula",
	)
}

// defaultRetries is the number of repeats of a request: four tries in all.
const defaultRetries = 3

// Session is one run of the program: its flags, and the resources that it opens on demand.
type Session struct {
	App      App
	Args     []string
	Flags    globals
	Target   *Target
	Client   *apiclient.Client
	embedded Embedded
	notes    []string // Not printed yet.
	unpaged  bool     // Lists are whole as they come.
	Omitted  omissions
	repaired atomic.Bool // An answer was not UTF-8.
	told     bool        // TellRepaired has reported it.
	// tokenEnds is the end of the used token according to the token. Nil if it has none.
	tokenEnds atomic.Pointer[time.Time]
	token     tokenCache
	// isCompletion is set for a shell's completion: it creates nothing, and may end before an answer comes.
	isCompletion bool
}

// NewSession begins the run of one command line.
func NewSession(app App, args []string) *Session { return &Session{App: app, Args: args} }

// Close closes the opened resources. It waits for a renewal of the session that is under way, and no other one begins.
func (s *Session) Close() {
	s.token.renewal.Lock()
	if s.embedded != nil {
		// Everything that was answered is on disk already.
		_ = s.embedded.Close()
	}
}

// dir returns a folder of ours: the named variable, the XDG one, or the platform's. It returns "" without any of them.
func (s *Session) dir(variable, xdg, fallback string) string {
	if dir := s.App.Getenv(variable); dir != "" {
		return dir
	}
	if dir := s.App.Getenv(xdg); filepath.IsAbs(dir) {
		return filepath.Join(dir, "fundesk")
	}
	base, below := s.home(), []string{filepath.FromSlash(fallback), "fundesk"}
	if runtime.GOOS == "windows" {
		base = s.App.Getenv("LOCALAPPDATA")
		below = []string{"fundesk", strings.TrimPrefix(filepath.Base(fallback), ".")}
	} else if runtime.GOOS == "darwin" && xdg == "XDG_CONFIG_HOME" {
		below = []string{"Library", "Application Support", "fundesk"}
	}
	if !filepath.IsAbs(base) {
		return ""
	}
	return filepath.Join(base, filepath.Join(below...))
}

// home returns the folder of the user, or "" if it is unknown. Files must not be written to, or read from, the folder
// in which a command happens to run.
func (s *Session) home() string {
	if home := s.App.Getenv("HOME"); home != "" {
		return home
	}
	if s.App.HomeDir != nil {
		home, _ := s.App.HomeDir()
		return home
	}
	account, err := user.Current()
	if err != nil {
		return ""
	}
	return account.HomeDir
}

// wantDir returns a folder, or an error if there is none.
func wantDir(dir, variable string) (string, error) {
	if dir == "" {
		return "", UsageError("no home folder: set HOME or " + variable)
	}
	return dir, nil
}

// ConfigDir returns the folder of config.toml, or "".
func (s *Session) ConfigDir() string {
	return s.dir("FUNDESK_CONFIG_DIR", "XDG_CONFIG_HOME", ".config")
}

// StateDir returns the folder of the outbox, drafts and positions.
func (s *Session) StateDir() (string, error) {
	return wantDir(s.dir("FUNDESK_STATE_DIR", "XDG_STATE_HOME", ".local/state"), "FUNDESK_STATE_DIR")
}

// Store returns the store of profiles.
func (s *Session) Store() profile.Store { return profile.Store{Dir: s.ConfigDir()} }

// Tokens returns the store of tokens.
func (s *Session) Tokens() profile.Tokens {
	return profile.Tokens{Dir: s.ConfigDir(), Getenv: s.App.Getenv}
}

// Trace returns where requests and answers are shown, or nil without --debug.
func (s *Session) Trace() io.Writer {
	if !s.Flags.debug {
		return nil
	}
	return cleaned{s.App.Err}
}

// cleaned makes written text safe for a terminal, because field names come from the service.
type cleaned struct{ io.Writer }

func (c cleaned) Write(text []byte) (int, error) {
	if _, err := c.Writer.Write(render.CleanJSON(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// OnTerminal reports whether stdout is a terminal.
func (s *Session) OnTerminal() bool { return IsTerminal(s.App.Out) }

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Version returns the program's version, or "devel".
func (s *Session) Version() string {
	if s.App.Version == nil {
		return "devel"
	}
	return s.App.Version()
}

// IsAccessible reports whether output goes line by line, for screen readers and braille displays. A drawn screen, or a
// line that is overwritten, confuses them.
func (s *Session) IsAccessible() bool {
	value := s.App.Getenv("ACCESSIBLE")
	return value != "" && value != "0"
}

// omissions are the embedded objects, and in the terminal whole records, that could not be
// read. It is safe for concurrent use.
type omissions struct {
	mu    sync.Mutex
	known map[string]bool // Repeated readings count once, up to maxOmissions.
	first string
}

const maxOmissions = 10_000

// Read returns the number of omissions, and the first of them.
func (o *omissions) Read() (int, string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.known), o.first
}

func (o *omissions) add(record, place string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	what := record
	if place != "" {
		what = place + " of " + record
	}
	if len(o.known) == 0 {
		o.known, o.first = map[string]bool{}, what
	}
	if len(o.known) < maxOmissions {
		o.known[what] = true
	}
}

// SetNow gives a change its time.
func (s *Session) SetNow(at **apitype.Time) {
	if *at == nil {
		*at = new(apitype.NewTime(s.App.Now()))
	}
}

// Agent gives a change the user that the profile names.
func (s *Session) Agent(user **apitype.UUID) error {
	text := s.Defaults().Agent
	if *user != nil || text == "" {
		return nil
	}
	id, err := apitype.ParseUUID(text)
	if err != nil {
		return UsageError("the agent of the profile " + err.Error())
	}
	*user = &id
	return nil
}
