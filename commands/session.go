package commands

import (
	"errors"
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
	"fundesk/tui/desk"
)

// globals are the flags that every command has.
type globals struct {
	profile   string
	baseURL   string
	output    string
	columns   []string
	sortBy    string
	noHeader  bool
	jq        string
	raw       bool
	arguments []string // Of the jq expression, NAME=VALUE each.
	timeout   time.Duration
	retries   int
	caCert    string
	noInput   bool
	noColor   bool
	quiet     bool
	debug     bool
	safeCells bool
	utc       bool
}

func (g *globals) register(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&g.profile, "profile", "", "profile to use (FUNDESK_PROFILE)")
	f.StringVar(&g.baseURL, "base-url", "", "address of the service (FUNDESK_BASE_URL)")
	f.StringVarP(&g.output, "output", "o", "", "table, wide, tsv, csv, json, ndjson or id (default: table on a terminal, tsv in a pipe)")
	f.StringSliceVar(&g.columns, "columns", nil, "columns of table, tsv and csv, by their csv names")
	f.StringVar(&g.sortBy, "sort-by", "", "sort what is printed by this column, -COLUMN from its end")
	f.BoolVar(&g.noHeader, "no-header", false, "leave out the header")
	f.StringVar(&g.jq, "jq", "", "jq expression over the output; implies -o json")
	f.BoolVarP(&g.raw, "raw", "r", false, "jq: write texts bare, not as JSON")
	f.StringArrayVar(&g.arguments, "arg", nil, "jq: NAME VALUE, a text for the expression under $NAME (repeatable)")
	f.DurationVar(&g.timeout, "timeout", apiclient.DefaultTimeout, "time that one request may take")
	f.IntVar(&g.retries, "retry", defaultRetries, "how often what may be repeated is tried again, 0 to 10")
	f.StringVar(&g.caCert, "ca-cert", "", "file of certificates (PEM) that are trusted beside the system's")
	f.BoolVar(&g.noInput, "no-input", false, "never ask")
	f.BoolVar(&g.noColor, "no-color", false, "no colours (NO_COLOR)")
	f.BoolVarP(&g.quiet, "quiet", "q", false, "no notes on stderr")
	f.BoolVar(&g.debug, "debug", false, "show requests and answers on stderr, masked")
	f.BoolVar(&g.utc, "utc", false, "tables: show times in UTC, not in the local zone")
	f.BoolVar(&g.safeCells, "spreadsheet-safe", false, "csv: guard cells that a spreadsheet would take for formulas")
}

// defaultRetries is how often a request is tried again: four tries in all.
const defaultRetries = 3

// session is one run of the program: the flags, and what is opened when it is needed.
type session struct {
	app      App
	args     []string
	flags    globals
	target   *target
	client   *apiclient.Client
	embedded Embedded
	notes    []string // Not told yet.
	unpaged  bool     // Lists are whole as they come.
	omitted  omissions
	// lookEvery is how often the desk by questions looks at the service while a question stands; 0: pollEvery.
	lookEvery time.Duration
	// tokenEnds is when the token that was used says that it ends; nil for none.
	tokenEnds atomic.Pointer[time.Time]
}

func newSession(app App, args []string) *session { return &session{app: app, args: args} }

func (s *session) close() {
	if s.embedded != nil {
		// Everything that was answered is on disk already.
		_ = s.embedded.Close()
	}
}

// dir is a folder of ours: the named variable, else the XDG one, else the platform's; ""
// where none of them says where that is.
func (s *session) dir(variable, xdg, fallback string) string {
	if dir := s.app.Getenv(variable); dir != "" {
		return dir
	}
	if dir := s.app.Getenv(xdg); filepath.IsAbs(dir) {
		return filepath.Join(dir, "fundesk")
	}
	base, below := s.home(), []string{filepath.FromSlash(fallback), "fundesk"}
	switch {
	case runtime.GOOS == "windows":
		base, below = s.app.Getenv("LOCALAPPDATA"), []string{"fundesk", strings.TrimPrefix(filepath.Base(fallback), ".")}
	case runtime.GOOS == "darwin" && xdg == "XDG_CONFIG_HOME":
		below = []string{"Library", "Application Support", "fundesk"}
	}
	if !filepath.IsAbs(base) {
		return ""
	}
	return filepath.Join(base, filepath.Join(below...))
}

// home is the folder of the user, "" where nobody knows it. What belongs there must not
// land in whatever folder a command runs in, nor be read from it.
func (s *session) home() string {
	home := s.app.Getenv("HOME")
	if home == "" {
		find := s.app.HomeDir
		if find == nil {
			find = func() (string, error) {
				account, err := user.Current()
				if err != nil {
					return "", err
				}
				return account.HomeDir, nil
			}
		}
		home, _ = find()
	}
	return home
}

// wantDir is a folder that a command cannot do without.
func wantDir(dir, variable string) (string, error) {
	if dir == "" {
		return "", usageError("no home folder: set HOME or " + variable)
	}
	return dir, nil
}

func (s *session) configDir() string {
	return s.dir("FUNDESK_CONFIG_DIR", "XDG_CONFIG_HOME", ".config")
}

func (s *session) stateDir() (string, error) {
	return wantDir(s.dir("FUNDESK_STATE_DIR", "XDG_STATE_HOME", ".local/state"), "FUNDESK_STATE_DIR")
}

func (s *session) dataDir() (string, error) {
	return wantDir(s.dir("FUNDESK_DATA_DIR", "XDG_DATA_HOME", ".local/share"), "FUNDESK_DATA_DIR")
}

func (s *session) store() profile.Store { return profile.Store{Dir: s.configDir()} }

func (s *session) tokens() profile.Tokens {
	return profile.Tokens{Dir: s.configDir(), Getenv: s.app.Getenv}
}

// cleaned makes what is written safe for a terminal: field names are the service's.
type cleaned struct{ io.Writer }

func (c cleaned) Write(text []byte) (int, error) {
	if _, err := c.Writer.Write(render.CleanJSON(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// onTerminal reports whether what is printed is seen on a terminal.
func (s *session) onTerminal() bool { return isTerminal(s.app.Out) }

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// version is the program's own, "devel" when nobody knows.
func (s *session) version() string {
	if s.app.Version == nil {
		return "devel"
	}
	return s.app.Version()
}

// isAccessible reports whether everything is to be said line by line: for screen readers
// and braille displays, which a drawn screen and a line that is written over confuse.
func (s *session) isAccessible() bool {
	value := s.app.Getenv("ACCESSIBLE")
	return value != "" && value != "0"
}

// errLeave ends the desk.
var errLeave = errors.New("leave")

// pollEvery is how old what is known of the calls may be when the next question is asked, and
// how often the desk looks for a call while none is there.
const pollEvery = 15 * time.Second

// lineDesk is the desk by questions and answers: the day of the screen, read line by line.
type lineDesk struct {
	*session
	*desk.Day
	told   inbox
	shown  int          // Calls so far.
	call   apitype.UUID // The call that was told last.
	polled time.Time
	hidden []string // Actions of the Desk that the profile takes away.
	login  string   // How the agent gets another token.
	typed  string   // What came after the key of the answer.
	idle   bool     // It was said that no call waits.
	asking bool     // A question stands.
}

// inbox keeps what is told from beside the desk until the next question.
type inbox struct {
	mu      sync.Mutex
	results []desk.Result
}

func (i *inbox) put(r desk.Result) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.results = append(i.results, r)
}

func (i *inbox) take() []desk.Result {
	i.mu.Lock()
	defer i.mu.Unlock()
	taken := i.results
	i.results = nil
	return taken
}

// omissions are the embedded objects, and in the terminal whole records, that could not be
// read. It is safe for concurrent use.
type omissions struct {
	mu    sync.Mutex
	known map[string]bool // What is read again and again counts once, up to maxOmissions.
	first string
}

const maxOmissions = 10_000

// read is how many there are, and the first of them.
func (o *omissions) read() (n int, first string) {
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
