package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable"
	"fundesk/apiclient/outbox"
	"fundesk/render"
)

// checkup is one thing that doctor looked at.
type checkup struct {
	Check   string `json:"check"`
	OK      bool   `json:"ok"`
	Detail  string `json:"detail"`
	Service string `json:"service,omitempty"` // That which is looked at, once it is known.
}

func doctorCommand(s *session) *cobra.Command {
	var interfaces bool
	var person *apitype.UUID
	var calls []string
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look for what keeps fundesk from working", Args: noArgs,
		Long: "Check the configuration, the token, the service, the clock and the outbox, and say what is wrong.\nThe exit code is that of the first thing that is.\n\n" +
			"With --interface: read a few records, and say where the service decided otherwise than fundesk expects,\nand what fundesk does about each. Nothing is changed.\n\n" +
			"With --person: the files of this computer that name a person (drafts, the outbox, pull positions, completion), for\n" +
			"one who asks to be erased; without a request to the service. Drafts and changes of calls name the call alone: name the\n" +
			"person's calls with --call, as fundesk person export lists them.",
		Example: "  fundesk doctor\n  fundesk doctor --profile prod -o json\n  fundesk doctor --interface\n" +
			"  fundesk doctor --person 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if person != nil {
				ids := []string{person.String()}
				for _, text := range calls {
					id, err := parseID(text)
					if err != nil {
						return err
					}
					ids = append(ids, id.String())
				}
				held, err := s.heldOf(ids)
				if err != nil {
					return err
				}
				return showList(s, "", heldColumns(), held)
			}
			if interfaces {
				client, err := s.connect(cmd.Context())
				if err != nil {
					return err
				}
				traits, err := examineInterface(cmd.Context(), client)
				if err != nil {
					return err
				}
				return showList(s, "", traitColumns(), traits)
			}
			checks, problem := s.examine(cmd)
			if err := showList(s, "", checkupColumns(), checks); err != nil {
				return err
			}
			return problem
		},
	}
	cmd.Flags().BoolVar(&interfaces, "interface", false, "say how the service differs from what fundesk expects, and what it does about that")
	cmd.Flags().Var(uuidValue(&person), "person", "only list the files of this computer that name this person")
	cmd.Flags().StringSliceVar(&calls, "call", nil, "with --person: a call of the person (repeatable)")
	return cmd
}

func checkupColumns() []render.Column[checkup] {
	return []render.Column[checkup]{
		{Name: "check", Default: true, Value: func(c checkup) string { return c.Check }},
		render.OutcomeColumn("wrong", func(c checkup) bool { return c.OK }),
		{Name: "detail", Default: true, Flexible: true, Value: func(c checkup) string { return c.Detail }},
	}
}

// examine makes all checks; the error is that of the first that failed.
func (s *session) examine(cmd *cobra.Command) (checks []checkup, problem error) {
	add := func(name, detail string, err error) bool {
		if err != nil {
			detail = err.Error()
			if problem == nil {
				problem = err
			}
		}
		row := checkup{Check: name, OK: err == nil, Detail: detail}
		if s.target != nil {
			row.Service = s.target.service()
		}
		checks = append(checks, row)
		return err == nil
	}
	add("configuration", s.store().Path(), s.checkConfig())
	waits, err := s.checkOutbox()
	add("outbox", waits, err)
	t, err := s.resolve()
	if err != nil {
		add("profile", "", err)
		return checks, problem
	}
	add("profile", t.service(), nil)
	add("network", s.wayTo(t), nil)
	client, err := s.connect(cmd.Context())
	if err != nil {
		add("service", "", err)
		return checks, problem
	}
	if err := s.checkToken(cmd, t, client); !add("token", "from "+t.tokenSource(), err) {
		return checks, problem
	}
	started := s.app.Now()
	answer, err := probe(cmd.Context(), client)
	if apiclient.KindOf(err) == apiclient.KindUnavailable {
		err = withHint(err, "look at the base URL (fundesk profile show) and at your network; changes sent with --outbox wait in the outbox")
	}
	took := s.app.Now().Sub(started).Round(time.Millisecond)
	if apiclient.KindOf(err) == apiclient.KindForbidden {
		add("service", "reachable; this account may not list calls", nil)
	} else {
		add("service", fmt.Sprintf("answered in %s", took), err)
	}
	if answer != nil {
		add("clock", s.checkClock(answer.Header), nil)
	}
	return checks, problem
}

// wayTo says how the service is reached.
func (s *session) wayTo(t *target) string {
	if t.isEmbedded() {
		return "inside the program"
	}
	n, parts := s.network(t), []string{}
	switch fromEnv := cmp.Or(s.app.Getenv("HTTPS_PROXY"), s.app.Getenv("https_proxy")); {
	case strings.HasPrefix(t.baseURL, "http://"), n.Proxy == "direct":
		parts = append(parts, "no proxy")
	case n.Proxy != "":
		parts = append(parts, "proxy "+shownURL(n.Proxy)+" (profile)")
	case fromEnv != "":
		parts = append(parts, "proxy "+shownURL(fromEnv)+" (HTTPS_PROXY, unless NO_PROXY excepts it)")
	default:
		parts = append(parts, "no proxy")
	}
	if n.CACert != "" {
		parts = append(parts, "trusts "+n.CACert)
	}
	if n.ClientCert != "" {
		parts = append(parts, "shows "+n.ClientCert)
	}
	return strings.Join(parts, ", ")
}

// checkToken wants a token that has not expired, as far as it can be read.
func (s *session) checkToken(cmd *cobra.Command, t *target, client *apiclient.Client) error {
	if _, err := client.Identity(cmd.Context()); err != nil {
		return err
	}
	token, err := s.currentToken(cmd, t)
	if err != nil {
		return err
	}
	if at := expiry(token); !at.IsZero() && at.Before(s.app.Now()) {
		return withHint(failure(apiclient.KindUnauthenticated, "the token from %s expired %s", t.tokenSource(), render.RelativeTime(at, s.app.Now())), loginHint(t))
	}
	return nil
}

// probe asks the service for one call. What answers something else than the interface
// in its version 1 is told apart from one that is away.
func probe(ctx context.Context, client *apiclient.Client) (*apiclient.Response, error) {
	answer, err := client.Do(ctx, http.MethodGet, "/api/v1/calls", url.Values{"first": {"1"}}, nil, nil)
	if err != nil {
		return nil, err
	}
	err = answer.Err()
	isOther := apiclient.KindOf(err) == apiclient.KindNotFound || err == nil && !json.Valid(answer.Body)
	if isOther {
		return answer, withHint(failure(apiclient.KindUnavailable, "%s answers, but not with version 1 of the interface (/api/v1/calls: status %d)", client.BaseURL(), answer.Status),
			"check the base URL: fundesk profile show; its path is what stands before /api/v1")
	}
	return answer, err
}

// checkConfig reads the configuration and looks at who may read it.
func (s *session) checkConfig() error {
	if _, err := s.store().Load(); err != nil {
		return usageError(err.Error())
	}
	info, err := os.Stat(s.store().Path())
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		return withHint(usageError("others can read "+s.store().Path()), "chmod 600 "+s.store().Path())
	}
	return nil
}

// checkOutbox says what waits, or why nothing can be sent.
func (s *session) checkOutbox() (string, error) {
	entries, damaged, err := s.allEntries()
	if err != nil {
		return "", err
	}
	dir, err := s.stateDir()
	if err == nil {
		err = durable.CheckLocks(dir)
	}
	if err != nil {
		return "", withHint(failure(apiclient.KindFailure, "no file can be locked in %s, so that nothing is sent: %s", dir, err), "FUNDESK_STATE_DIR names another folder for it")
	}
	refused := 0
	for _, entry := range entries {
		if entry.State == outbox.StateRejected {
			refused++
		}
	}
	return fmt.Sprintf("%d waiting, %d refused, %s damaged", len(entries)-refused, refused, count(len(damaged), "file")), nil
}

// checkClock says how far the clocks differ: times of attempts and pulls depend on it.
func (s *session) checkClock(header http.Header) string {
	at, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return "the service tells no time"
	}
	difference := s.app.Now().Sub(at).Round(time.Second)
	if difference.Abs() > time.Minute {
		return fmt.Sprintf("this machine differs from the service by %s; check its clock", difference)
	}
	return fmt.Sprintf("differs from the service by %s", difference)
}
