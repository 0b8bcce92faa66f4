package read

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/render"
	"fundesk/tui/desk"
)

// grouping is a way to count the records of a noun.
type grouping[T any] struct {
	name  string
	of    func(T) string // "" is left out by default, and counted as (none) by --by.
	shown bool           // Without --by.
}

// statRow is one number of the statistics, with what belongs to it by --by.
type statRow struct {
	Group  string         `json:"group"`
	Value  string         `json:"value"`
	Count  int            `json:"count"`
	Amount *json.Number   `json:"amount,omitempty"` // Of pledges by --by: Euros.
	States map[string]int `json:"states,omitempty"` // By --by: how many are in each.
	cents  int64
}

// statsNoun is how the records of a noun are counted.
type statsNoun[T any, O apiclient.ListOptions] struct {
	noun      string
	groupings []grouping[T]
	states    []string // The columns of --by.
	state     func(T) string
	cents     func(T) (int64, bool) // Nil: it has no amount.
	of        func(*apiclient.Client) *apiclient.Collection[T, O]
	// prepare checks the filters, and asks for what the groups need.
	prepare func(cmd *cobra.Command, by []string) (O, func(T) bool, error)
}

// CallStats is the verb stats of calls.
func CallStats(s *cli.Session) *cobra.Command {
	filters := &CallFilters{}
	cmd := statsCommand(s, statsNoun[apitype.Call, apitype.CallListOptions]{
		noun: "call", groupings: callGroupings(s), of: Calls,
		states: apitype.Texts(apitype.CallStatuses), state: func(c apitype.Call) string { return string(c.Status) },
		prepare: func(cmd *cobra.Command, by []string) (apitype.CallListOptions, func(apitype.Call) bool, error) {
			err := filters.Check()
			if slices.Contains(by, "organization") {
				filters.includeFor([]string{"person.owningOrganization"})
			}
			filters.LeaveToService(cmd.Context(), s)
			return filters.Options, filters.Passes(), err
		},
	})
	cmd.Short = "Count calls by status, type, attempts and result"
	cmd.Example = "  fundesk call stats --requested-after 30d\n  fundesk call stats --by agent --requested-after today -o csv\n" +
		"  fundesk call stats -o json --jq '.[] | select(.group == \"result\")'"
	filters.Register(s, cmd)
	return cmd
}

func callGroupings(s *cli.Session) []grouping[apitype.Call] {
	type call = apitype.Call
	return []grouping[call]{
		{"total", func(call) string { return "calls" }, true},
		{"status", func(c call) string { return string(c.Status) }, true},
		{"type", func(c call) string { return string(c.Type) }, true},
		{"requested by type", func(c call) string {
			if c.Status != apitype.CallRequested {
				return ""
			}
			return string(c.Type)
		}, true},
		{"attempts", func(c call) string { return strconv.Itoa(c.AttemptsCount) }, true},
		{"result", func(c call) string { return desk.Value(c.Result.Value().ResultCode) }, true},
		{"rating", func(c call) string {
			if rating := c.Result.Value().DonorRetentionRating; rating != nil {
				return rating.String()
			}
			return ""
		}, true},
		{"day", func(c call) string { return dayOf(s, c.RequestedAt) }, false},
		{"week", func(c call) string { return weekOf(s, c.RequestedAt) }, false},
		{"agent", lastAgent, false},
		{"organization", func(c call) string { return organizationName(c.Person.Value().OwningOrganization.Value()) }, false},
	}
}

// lastAgent is who made the last attempt, "" where nobody did.
func lastAgent(c apitype.Call) string {
	attempts := c.Attempts.Value()
	if len(attempts) == 0 {
		return ""
	}
	last := slices.MaxFunc(attempts, func(a, b apitype.CallAttempt) int { return a.AttemptAt.Compare(b.AttemptAt.Time) })
	if last.UserUUID == nil {
		return ""
	}
	return last.UserUUID.String()
}

// PersonStats is the verb stats of persons.
func PersonStats(s *cli.Session) *cobra.Command {
	type person = apitype.Person
	o := &apitype.PersonListOptions{}
	opt := func(name string, value func(person) *bool) grouping[person] {
		return grouping[person]{name, func(p person) string { return desk.YesNo(value(p)) }, true}
	}
	cmd := statsCommand(s, statsNoun[person, apitype.PersonListOptions]{
		noun: "person", of: Persons,
		groupings: []grouping[person]{
			{"total", func(person) string { return "persons" }, true},
			{"organization", func(p person) string { return organizationName(p.OwningOrganization.Value()) }, true},
			{"language", func(p person) string { return desk.Value(p.Language) }, true},
			{"country", func(p person) string { return p.Address.Value().Country }, true},
			opt("optInPhone", func(p person) *bool { return p.OptInPhone }),
			opt("optInEmail", func(p person) *bool { return p.OptInEmail }),
			opt("optInMail", func(p person) *bool { return p.OptInMail }),
			opt("optInSms", func(p person) *bool { return p.OptInSMS }),
			{"day", func(p person) string { return dayOf(s, p.CreatedAt) }, false},
			{"week", func(p person) string { return weekOf(s, p.CreatedAt) }, false},
		},
		prepare: func(*cobra.Command, []string) (apitype.PersonListOptions, func(person) bool, error) {
			return *o, nil, nil
		},
	})
	cmd.Short = "Count persons by organization, language, country and opt-ins"
	cmd.Example = "  fundesk person stats\n  fundesk person stats --by week --created-after 90d -o csv"
	cli.RegisterFilters(s, cmd, apitype.PersonFilters(), o)
	return cmd
}

// PledgeStats is the verb stats of pledges.
func PledgeStats(s *cli.Session) *cobra.Command {
	type pledge = apitype.Pledge
	o := &apitype.PledgeListOptions{}
	cmd := statsCommand(s, statsNoun[pledge, apitype.PledgeListOptions]{
		noun: "pledge", of: Pledges,
		states: apitype.Texts(apitype.PledgeStatuses), state: func(p pledge) string { return string(p.Status) },
		cents: func(p pledge) (int64, bool) { return p.DonationAmount.Cents() },
		groupings: []grouping[pledge]{
			{"total", func(pledge) string { return "pledges" }, true},
			{"status", func(p pledge) string { return string(p.Status) }, true},
			{"interval", func(p pledge) string { return string(p.DonationInterval) }, true},
			{"type", func(p pledge) string { return string(desk.Value(p.RecruitmentType)) }, true},
			{"organization", func(p pledge) string { return organizationName(p.OwningOrganization.Value()) }, true},
			{"campaign", func(p pledge) string { return desk.Value(p.CampaignCode) }, true},
			{"day", func(p pledge) string { return dayOf(s, p.CreatedAt) }, false},
			{"week", func(p pledge) string { return weekOf(s, p.CreatedAt) }, false},
		},
		prepare: func(*cobra.Command, []string) (apitype.PledgeListOptions, func(pledge) bool, error) {
			return *o, nil, RefuseParameters(o.Validate())
		},
	})
	cmd.Short = "Count pledges by status, interval, type and organization"
	cmd.Example = "  fundesk pledge stats\n  fundesk pledge stats --by campaign --status active -o csv"
	cli.RegisterFilters(s, cmd, apitype.PledgeFilters(), o)
	return cmd
}

// statsCommand is the verb stats of a noun.
func statsCommand[T any, O apiclient.ListOptions](s *cli.Session, n statsNoun[T, O]) *cobra.Command {
	var by []string
	var names []string
	for _, g := range n.groupings[1:] { // Without the total.
		names = append(names, g.name)
	}
	cmd := &cobra.Command{
		Use: "stats", Args: cli.NoArgs,
		Long: "Read all " + n.noun + "s that pass the filters and count them. The service counts nothing itself: every " + n.noun + "\n" +
			"is retrieved. --by counts by one thing, and how many of each are in which state; days and weeks are local,\n" +
			"or in UTC with --utc.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range by {
				if !slices.Contains(names, name) {
					return cli.WithHint(cli.UsageError("--by "+cli.Quote(name)+" is no group of "+n.noun+"s"), "there are "+strings.Join(names, ", "))
				}
			}
			return n.run(s, cmd, by)
		},
	}
	cmd.Flags().StringSliceVar(&by, "by", nil, "count by "+strings.Join(names, ", "))
	s.UnpagedFlag(cmd)
	return cmd
}

func (n statsNoun[T, O]) run(s *cli.Session, cmd *cobra.Command, by []string) error {
	options, passes, err := n.prepare(cmd, by)
	if err != nil {
		return err
	}
	columns := n.columns(len(by) > 0)
	client, _, err := cli.Open(cmd.Context(), s, "", columns)
	if err != nil {
		return err
	}
	groups := slices.DeleteFunc(slices.Clone(n.groupings), func(g grouping[T]) bool {
		return len(by) == 0 && !g.shown || len(by) > 0 && !slices.Contains(by, g.name)
	})
	counts := make([]map[string]*statRow, len(groups))
	for i := range counts {
		counts[i] = map[string]*statRow{}
	}
	walk := apiclient.AllOptions{PageSize: apitype.MaxPageSize, Fallback: DefaultPageSize, Reuse: true}
	var unread []error
	keep := func(err error) { unread = append(unread, err) }
	for value, err := range apiclient.Readable(collectingSooner(n.of(client).All(cmd.Context(), options, walk)), keep) {
		if errors.Is(err, apiclient.ErrUnpaged) {
			unread = append(unread, err)
			break
		}
		if err != nil {
			return err
		}
		if passes != nil && !passes(value) {
			continue
		}
		for i, g := range groups {
			n.count(counts[i], g, value, len(by) > 0)
		}
	}
	rows := []statRow{}
	for _, of := range counts {
		for _, name := range sortedGroups(of) {
			rows = append(rows, *of[name])
		}
	}
	if err := cli.ShowList(s, "", columns, rows); err != nil || len(unread) == 0 {
		return err
	}
	return aboutList(unreadable(unread, true)) // The numbers are those of the others.
}

func (n statsNoun[T, O]) count(rows map[string]*statRow, g grouping[T], value T, by bool) {
	name := g.of(value)
	if name == "" {
		if !by {
			return
		}
		name = "(none)"
	}
	row := rows[name]
	if row == nil {
		row = &statRow{Group: g.name, Value: name}
		rows[name] = row
	}
	row.Count++
	if !by {
		return
	}
	if n.state != nil {
		if row.States == nil {
			row.States = map[string]int{}
		}
		row.States[n.state(value)]++
	}
	if n.cents != nil {
		if cents, exact := n.cents(value); exact {
			row.cents += cents
		}
		row.Amount = new(json.Number(fmt.Sprintf("%d.%02d", row.cents/100, row.cents%100)))
	}
}

func (n statsNoun[T, O]) columns(by bool) []render.Column[statRow] {
	columns := []render.Column[statRow]{
		{Name: "group", Default: true, Value: func(r statRow) string { return r.Group }},
		{Name: "value", Default: true, Flexible: true, Value: func(r statRow) string { return r.Value }},
		{Name: "count", Default: true, Right: true, Value: func(r statRow) string { return strconv.Itoa(r.Count) }},
	}
	if !by {
		return columns
	}
	for _, state := range n.states {
		columns = append(columns, render.Column[statRow]{Name: state, Default: true, Right: true, Value: func(r statRow) string { return strconv.Itoa(r.States[state]) }})
	}
	if n.cents != nil {
		columns = append(columns, render.Column[statRow]{Name: "amount", Title: "euro", Default: true, Right: true, Value: func(r statRow) string {
			if r.Amount == nil {
				return ""
			}
			return r.Amount.String()
		}})
	}
	return columns
}

// sortedGroups are the names of groups, numbers by their value.
func sortedGroups(rows map[string]*statRow) []string {
	names := make([]string, 0, len(rows))
	for name := range rows {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		x, err1 := strconv.ParseFloat(a, 64)
		y, err2 := strconv.ParseFloat(b, 64)
		if err1 == nil && err2 == nil {
			return cmp.Compare(x, y)
		}
		return strings.Compare(a, b)
	})
	return names
}

func dayOf(s *cli.Session, t apitype.Time) string { return localTime(s, t).Format(time.DateOnly) }

// weekOf is the week of a time by ISO 8601.
func weekOf(s *cli.Session, t apitype.Time) string {
	year, week := localTime(s, t).ISOWeek()
	return fmt.Sprintf("%d-W%02d", year, week)
}

func localTime(s *cli.Session, t apitype.Time) time.Time {
	if s.Flags.UTC {
		return t.UTC()
	}
	return t.Local()
}

// organizationName is how an organization is told; names alone may be those of two.
func organizationName(o apitype.OrganizationReference) string {
	if o.Abbreviation == "" || o.Name == "" {
		return o.Name + o.Abbreviation
	}
	return o.Name + " (" + o.Abbreviation + ")"
}
