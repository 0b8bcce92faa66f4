// Package doctor is the command doctor: it looks for what keeps fundesk from working.
package doctor

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/durable"
	"fundesk/apiclient/outbox"
	"fundesk/commands/cli"
	"fundesk/render"
)

// checkup is one thing that doctor looked at.
type checkup struct {
	Check   string `json:"check"`
	OK      bool   `json:"ok"`
	Detail  string `json:"detail"`
	Service string `json:"service,omitempty"` // That which is looked at, once it is known.
}

// Command returns the command doctor.
func Command(s *cli.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Find out why fundesk does not work",
		Args:  cli.NoArgs,
		Long: "Check the configuration, the token, the service, the clock and the outbox, and say what is wrong.\n" +
			"The exit code is that of the first problem.",
		Example: "  fundesk doctor\n  fundesk doctor --profile prod -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			checks, problem := examine(s, cmd)
			if err := cli.ShowList(s, "", []render.Column[checkup]{
				{Name: "check", Default: true, Value: func(c checkup) string { return c.Check }},
				render.OutcomeColumn("wrong", func(c checkup) bool { return c.OK }),
				{
					Name:     "detail",
					Default:  true,
					Flexible: true,
					Value:    func(c checkup) string { return c.Detail },
				},
			}, checks); err != nil {
				return err
			}
			return problem
		},
	}
}

// examine makes all checks. The error comes from the first failed one.
func examine(s *cli.Session, cmd *cobra.Command) ([]checkup, error) {
	var checks []checkup
	var problem error
	add := func(name, detail string, err error) bool {
		if err != nil {
			detail = err.Error()
			if problem == nil {
				problem = err
			}
		}
		row := checkup{Check: name, OK: err == nil, Detail: detail}
		if s.Target != nil {
			row.Service = s.Target.Service()
		}
		checks = append(checks, row)
		return err == nil
	}
	add("configuration", s.Store().Path(), checkConfig(s))
	waits, err := checkOutbox(s)
	add("outbox", waits, err)
	t, err := s.Resolve()
	if err != nil {
		add("profile", "", err)
		return checks, problem
	}
	add("profile", t.Service(), nil)
	add("network", wayTo(s, t), nil)
	client, err := s.Connect(cmd.Context())
	if err != nil {
		add("service", "", err)
		return checks, problem
	}
	if err := tokenProblem(s, cmd, t, client); !add("token", "from "+t.TokenSource(), err) {
		return checks, problem
	}
	started := s.App.Now()
	answer, err := cli.Probe(cmd.Context(), client)
	if apiclient.KindOf(err) == apiclient.KindUnavailable {
		err = cli.WithHint(
			err,
			"look at the base URL (fundesk profile show) and at your network; changes sent with --outbox wait in "+
				"the outbox",
		)
	}
	took := s.App.Now().Sub(started).Round(time.Millisecond)
	if apiclient.KindOf(err) == apiclient.KindForbidden {
		add("service", "reachable; this account may not list calls", nil)
	} else {
		add("service", fmt.Sprintf("answered in %s", took), err)
	}
	if err == nil {
		addPerson(s, cmd, t, client, add)
	}
	if answer != nil {
		add("clock", checkClock(s, answer.Header), nil)
	}
	return checks, problem
}

// addPerson adds the signed-in person, if the token belongs to one.
func addPerson(
	s *cli.Session,
	cmd *cobra.Command,
	t *cli.Target,
	client *apiclient.Client,
	add func(name, detail string, err error) bool,
) {
	token, err := s.CurrentToken(cmd.Context(), t)
	if err != nil {
		return // It was said.
	}
	person, err := s.SignedIn(cmd.Context(), client, token)
	if err != nil {
		add("person", "", err)
	}
	if person != nil {
		add("person", "signed in as "+person.Name, nil)
	}
}

func wayTo(s *cli.Session, t *cli.Target) string {
	if t.IsEmbedded() {
		return "inside the program"
	}
	n, parts := s.Network(t), []string{}
	switch fromEnv := cmp.Or(s.App.Getenv("HTTPS_PROXY"), s.App.Getenv("https_proxy")); {
	case strings.HasPrefix(t.BaseURL, "http://"), n.Proxy == "direct":
		parts = append(parts, "no proxy")
	case n.Proxy != "":
		parts = append(parts, "proxy "+cli.ShownURL(n.Proxy)+" (profile)")
	case fromEnv != "":
		parts = append(parts, "proxy "+cli.ShownURL(fromEnv)+" (HTTPS_PROXY, unless NO_PROXY excepts it)")
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
func tokenProblem(s *cli.Session, cmd *cobra.Command, t *cli.Target, client *apiclient.Client) error {
	if _, err := client.Identity(cmd.Context()); err != nil {
		return err
	}
	token, err := s.CurrentToken(cmd.Context(), t)
	if err != nil {
		return err
	}
	if at := apiclient.ClaimsOf(token).Ends; !at.IsZero() && at.Before(s.App.Now()) {
		return cli.WithHint(
			cli.Failure(
				apiclient.KindUnauthenticated,
				"the token from %s expired %s",
				t.TokenSource(),
				render.RelativeTime(at, s.App.Now()),
			),
			cli.LoginHint(t),
		)
	}
	return nil
}

// checkConfig reads the configuration and checks its permissions.
func checkConfig(s *cli.Session) error {
	if _, err := s.Store().Load(); err != nil {
		return cli.UsageError(err.Error())
	}
	tokens, _ := filepath.Glob(filepath.Join(filepath.Dir(s.Store().Path()), "tokens", "*")) // Tokens in files.
	for _, path := range append(tokens, s.Store().Path()) {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
			return cli.WithHint(cli.UsageError("others can read "+path), "chmod 600 "+path)
		}
	}
	return nil
}

// checkOutbox counts the waiting changes, or returns the reason why something cannot be sent.
func checkOutbox(s *cli.Session) (string, error) {
	entries, damaged, err := s.AllEntries()
	if err != nil {
		return "", err
	}
	dir, err := s.StateDir()
	if err == nil {
		err = durable.CheckLocks(dir)
	}
	if err != nil {
		return "", cli.WithHint(
			cli.Failure(apiclient.KindFailure, "files cannot be locked in %s, so nothing can be sent: %s", dir, err),
			"FUNDESK_STATE_DIR names another folder for it",
		)
	}
	err = durable.CheckRoom(dir)
	if err != nil {
		return "", cli.WithHint(
			cli.Failure(apiclient.KindFailure, "nothing can be saved in %s: %s", dir, err),
			"make room, or name another folder for it: FUNDESK_STATE_DIR",
		)
	}
	refused := 0
	for _, entry := range entries {
		if entry.State == outbox.StateRejected {
			refused++
		}
	}
	counts := fmt.Sprintf(
		"%d waiting, %d refused, %s damaged",
		len(entries)-refused,
		refused,
		cli.Count(len(damaged), "file"),
	)
	return counts, checkDamaged(counts, damaged)
}

// checkDamaged names the files of the outbox that cannot be read, with a way out for the first one.
func checkDamaged(counts string, damaged []outbox.Damaged) error {
	if len(damaged) == 0 {
		return nil
	}
	wayOut := "a file that was damaged is never sent: make the change again, then remove the file"
	if damaged[0].IsNewer {
		wayOut = "use the later version of fundesk, which sends it"
	} else if damaged[0].IsUnread {
		wayOut = "let your user read the file; it is sent then"
	}
	var files []string
	for _, d := range damaged {
		files = append(files, d.Path+" ("+d.Reason+")")
	}
	return cli.WithHint(
		cli.Failure(apiclient.KindFailure, "%s: %s", counts, strings.Join(files, ", ")),
		wayOut,
	)
}

// checkClock returns how far the clocks differ, because times of attempts and pulls depend on it.
func checkClock(s *cli.Session, header http.Header) string {
	at, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return "the service sends no time"
	}
	difference := s.App.Now().Sub(at).Round(time.Second)
	if difference.Abs() > time.Minute {
		return fmt.Sprintf("this machine differs from the service by %s; check its clock", difference)
	}
	return fmt.Sprintf("differs from the service by %s", difference)
}
