package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/signin"
)

type userView struct {
	UUID         apitype.UUID  `json:"uuid"`
	Name         string        `json:"name"`
	Organization *apitype.UUID `json:"organization"`
	HasSubject   bool          `json:"hasSubject"` // By user set --subject.
	EndedAt      *apitype.Time `json:"endedAt"`

	isUnchanged bool // user set found everything as it was to be.
}

func viewUser(u service.User) userView {
	return userView{
		UUID:         u.UUID,
		Name:         u.Name,
		Organization: u.Organization,
		HasSubject:   u.Subject != nil,
		EndedAt:      u.EndedAt,
	}
}

func (u userView) cells() []string {
	cells := []string{u.UUID.String(), u.Name}
	if u.HasSubject {
		cells = append(cells, "has a subject")
	}
	if u.EndedAt != nil {
		cells = append(cells, "ended")
	}
	return cells
}

func (p *program) userAdd() *cobra.Command {
	var u service.User
	var id *apitype.UUID
	return operation[userView]{
		use:   "add NAME",
		short: "Add a user, such as an agent",
		long: "Add gives a person a name and prints the uuid. Agents find theirs by the name:\n" +
			"fundesk profile add work --base-url URL --agent-name NAME. Leases, callbacks and\n" +
			"the Floor show names.",
		example: "  fundeskd user add \"Anneke de Vries\"\n" +
			"  fundeskd user add Joost --organization 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c",
		args: []argument{textArgument("NAME", &u.Name)},
		flags: func(flags *pflag.FlagSet) {
			uuidFlag(flags, &id, "uuid", "`uuid` (default: a new one)")
			uuidFlag(flags, &u.Organization, "organization",
				"`uuid` of the organization whose accounts see the name (default: every account does)")
		},
		access:  access{create: true},
		failure: "add the user",
		run: func(ctx context.Context, s *service.Service) (userView, error) {
			if id != nil {
				u.UUID = *id
			}
			added, err := s.AddUser(ctx, u)
			return viewUser(added), err
		},
		text: func(w io.Writer, u userView) { fmt.Fprintln(w, u.UUID) },
	}.command(p)
}

func (p *program) userList() *cobra.Command {
	return recordList[service.User, userView]{
		use:     "list",
		short:   "List users",
		example: "  fundeskd user list -o json",
		all:     func(ctx context.Context, s *service.Service) ([]service.User, error) { return s.Users(ctx) },
		view:    viewUser,
		cells:   userView.cells,
	}.command(p)
}

// userChange holds the flags of user set. A nil field stays unchanged.
type userChange struct {
	id      apitype.UUID
	name    string // Empty leaves it.
	isEnded *bool
	subject *string // Empty removes it.
	issuer  string
}

func (p *program) userSet() *cobra.Command {
	var change userChange
	var isEnded bool
	var subject string
	wanted := []argument{uuidArgument("UUID", "user", &change.id), textArgument("NAME", &change.name)}
	c := operation[userView]{
		use:   "set UUID [NAME]",
		short: "Give a user another name or a subject, or end their access",
		long: "Set changes the name everywhere, also in earlier records. With --ended the\n" +
			"user's requests are refused from the next one on, whatever the identity\n" +
			"provider says; --ended=false restores the access. With --subject the person\n" +
			"with this sub in their tokens signs in as the user, whose calls, callbacks and\n" +
			"figures stay theirs; without it the first sign-in makes another user.",
		example: "  fundeskd user set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c \"Anneke Bakker\"\n" +
			"  fundeskd user set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --subject 248289761001\n" +
			"  fundeskd user set 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --ended",
		args: wanted,
		flags: func(flags *pflag.FlagSet) {
			flags.BoolVar(&isEnded, "ended", false, "refuse the user's requests")
			flags.StringVar(&subject, "subject", "", "`SUB` of the person's tokens; '' removes it")
			flags.StringVar(&change.issuer, "oidc-issuer", "",
				"`URL` of the issuer of these tokens (default: that of serve, FUNDESKD_OIDC_ISSUER)")
		},
		check: func(_ context.Context, flags *pflag.FlagSet) error {
			if flags.Changed("ended") {
				change.isEnded = &isEnded
			}
			if flags.Changed("subject") {
				change.subject = &subject
			}
			if change.name == "" && change.isEnded == nil && change.subject == nil {
				return usage("name a NAME, --subject or --ended; see: fundeskd user set --help")
			}
			return nil
		},
		failure: "change the user",
		run: func(ctx context.Context, s *service.Service) (userView, error) {
			request, err := p.userRequest(change)
			if err != nil {
				return userView{}, err
			}
			user, isChanged, err := s.SetUser(ctx, change.id, request)
			view := viewUser(user)
			view.isUnchanged = !isChanged
			return view, err
		},
		text: func(w io.Writer, u userView) { printChanged(w, u.UUID, u.isUnchanged) },
	}.command(p)
	c.Args = func(c *cobra.Command, args []string) error {
		isUUIDAlone := len(args) == 1
		if isUUIDAlone {
			return exactly(wanted[:1])(c, args)
		}
		return exactly(wanted)(c, args)
	}
	return c
}

// userRequest returns the change that the flags ask for.
func (p *program) userRequest(c userChange) (service.UserChange, error) {
	request := service.UserChange{Name: c.name, IsEnded: c.isEnded}
	if c.subject == nil {
		return request, nil
	}
	subject, err := p.subjectOf(*c.subject, c.issuer)
	request.Subject = subject
	return request, err
}

// subjectOf returns the subject of a sub. An empty one clears it.
func (p *program) subjectOf(sub, issuer string) (apitype.Patch[apitype.UUID], error) {
	if sub == "" {
		return apitype.Clear[apitype.UUID](), nil
	}
	issuer = cmp.Or(issuer, p.Getenv(variableOf("oidc-issuer")))
	var subject apitype.Patch[apitype.UUID]
	if issuer == "" {
		return subject, usage("--subject needs --oidc-issuer URL, or FUNDESKD_OIDC_ISSUER")
	}
	if err := signin.CheckSubject(issuer, sub); err != nil {
		return subject, usage("--subject of %s: %w", issuer, err)
	}
	return apitype.Set(signin.SubjectOf(issuer, sub)), nil
}
