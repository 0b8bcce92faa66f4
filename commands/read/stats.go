package read

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/render"
	"fundesk/render/counts"
)

// statRow is one number of the statistics, with what belongs to it.
type statRow struct {
	Group  string         `json:"group"`
	Value  string         `json:"value"`
	Name   string         `json:"name,omitempty"` // The name of an agent, if the profile or the service knows it.
	Count  int            `json:"count"`
	Amount *json.Number   `json:"amount,omitempty"` // Of pledges by --by: Euros.
	States map[string]int `json:"states,omitempty"` // By --by: how many are in each.
	Rating *json.Number   `json:"meanRating,omitempty"`
	Yearly *json.Number   `json:"euroAYear,omitempty"` // Of pledges.
	Once   *json.Number   `json:"euroOnce,omitempty"`
}

// statsNoun describes how the records of a noun are counted.
type statsNoun[T any, O apiclient.ListOptions] struct {
	noun    string
	states  []string // The columns of --by.
	columns []render.Column[statRow]
	groups  func(now time.Time, in *time.Location) []counts.Group[T]
	counts  func(groups []counts.Group[T], none string) *counts.Counts[T]
	of      func(*apiclient.Client) *apiclient.Collection[T, O]
	// prepare checks the filters, and requests the data that the groups need.
	prepare func(cmd *cobra.Command, by []string) (O, func(T) bool, error)
	// learn asks the service for data that groups need besides the listed records. Nil if they need none.
	learn func(ctx context.Context, client *apiclient.Client, by []string, options O) error
}

// CallStats returns the verb stats of calls.
func CallStats(s *cli.Session) *cobra.Command {
	filters := &CallFilters{}
	missing, reasons, done := missingChecks{}, attemptReasons{}, &completions{now: s.App.Now}
	cmd := statsCommand(s, statsNoun[apitype.Call, apitype.CallListOptions]{
		noun:   "call",
		counts: counts.OfCalls,
		of:     Calls,
		states: apitype.Texts(apitype.CallStatuses),
		groups: func(now time.Time, in *time.Location) []counts.Group[apitype.Call] {
			return append(done.groups(counts.CallGroups(now, in)), missing.group(), reasons.group())
		},
		learn: func(ctx context.Context, client *apiclient.Client, by []string, o apitype.CallListOptions) error {
			if slices.Contains(by, byAgent) {
				if err := done.read(ctx, client, slices.Collect(maps.Keys(s.Defaults().Agents)), o); err != nil {
					return err
				}
			}
			if slices.Contains(by, byReason) {
				if err := reasons.read(ctx, client, o); err != nil {
					return err
				}
			}
			if !slices.Contains(by, byCheck) {
				return nil
			}
			return missing.read(ctx, client)
		},
		columns: []render.Column[statRow]{
			numberColumn("meanRating", "rating", func(r statRow) *json.Number { return r.Rating }),
		},
		prepare: func(cmd *cobra.Command, by []string) (apitype.CallListOptions, func(apitype.Call) bool, error) {
			if err := filters.Check(); err != nil {
				return filters.Options, nil, err
			}
			if err := filters.FindUsers(cmd.Context(), s); err != nil {
				return filters.Options, nil, err
			}
			if slices.Contains(by, "organization") {
				filters.includeFor([]string{"person.owningOrganization"})
			}
			filters.LeaveToService(cmd.Context(), s)
			return filters.Options, filters.Passes(), nil
		},
	})
	cmd.Short = "Count calls by status, type, attempts and result"
	cmd.Example = "  fundesk call stats --requested-after 30d\n" +
		"  fundesk call stats --by agent --requested-after today -o csv\n" +
		"  fundesk call stats --by check+agent --requested-after 7d\n" +
		"  fundesk call stats -o json --jq '.[] | select(.group == \"result\")'"
	filters.Register(s, cmd)
	return cmd
}

// PersonStats returns the verb stats of persons.
func PersonStats(s *cli.Session) *cobra.Command {
	o := &apitype.PersonListOptions{}
	cmd := statsCommand(s, statsNoun[apitype.Person, apitype.PersonListOptions]{
		noun:   "person",
		counts: counts.OfPersons,
		of:     Persons,
		groups: func(_ time.Time, in *time.Location) []counts.Group[apitype.Person] { return counts.PersonGroups(in) },
		prepare: func(*cobra.Command, []string) (apitype.PersonListOptions, func(apitype.Person) bool, error) {
			WarnOfIBAN(s, *o)
			return *o, nil, nil
		},
	})
	cmd.Short = "Count persons by organization, language, country and opt-ins"
	cmd.Example = "  fundesk person stats\n  fundesk person stats --by week --created-after 90d -o csv"
	cli.RegisterFilters(s, cmd, apitype.PersonFilters(), o)
	return cmd
}

// PledgeStats returns the verb stats of pledges.
func PledgeStats(s *cli.Session) *cobra.Command {
	o := &apitype.PledgeListOptions{}
	cmd := statsCommand(s, statsNoun[apitype.Pledge, apitype.PledgeListOptions]{
		noun:   "pledge",
		counts: counts.OfPledges,
		of:     Pledges,
		states: apitype.Texts(apitype.PledgeStatuses),
		groups: func(_ time.Time, in *time.Location) []counts.Group[apitype.Pledge] { return counts.PledgeGroups(in) },
		columns: []render.Column[statRow]{
			numberColumn("amount", "euro", func(r statRow) *json.Number { return r.Amount }),
			numberColumn("euroAYear", "euro a year", func(r statRow) *json.Number { return r.Yearly }),
			numberColumn("euroOnce", "euro once", func(r statRow) *json.Number { return r.Once }),
		},
		prepare: func(*cobra.Command, []string) (apitype.PledgeListOptions, func(apitype.Pledge) bool, error) {
			isPerson := func(name string) bool { return name == apitype.IncludePerson } // None is counted.
			o.Include = slices.DeleteFunc(o.Include, isPerson)
			return *o, nil, RefuseParameters(o.Validate())
		},
	})
	cmd.Short = "Count pledges by status, interval, type and organization"
	cmd.Example = "  fundesk pledge stats\n  fundesk pledge stats --by campaign --status active -o csv"
	cli.RegisterFilters(s, cmd, apitype.PledgeFilters(), o)
	return cmd
}

// statsCommand returns the verb stats of a noun.
func statsCommand[T any, O apiclient.ListOptions](s *cli.Session, n statsNoun[T, O]) *cobra.Command {
	var by []string
	var names []string
	for _, g := range n.groups(time.Time{}, time.UTC)[1:] { // Without the total.
		names = append(names, g.Name)
	}
	cmd := &cobra.Command{
		Use:  "stats",
		Args: cli.NoArgs,
		Long: "Retrieve all " + n.noun + "s that pass the filters, and count them on this computer. --by counts\n" +
			"by a field, with the states of each group. Days and weeks are local, or in UTC with --utc.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range namesOf(by) {
				if !slices.Contains(names, name) {
					return cli.NotOneOf("--by", name, names)
				}
			}
			return n.run(s, cmd, by)
		},
	}
	about := "count by " + strings.Join(names, ", ") + ", or by pairs such as " + names[0] + "+" + names[1]
	cmd.Flags().StringSliceVar(&by, "by", nil, about)
	cli.RegisterFlag(cmd, "by", cli.Parts(func() []string { return slices.Clone(names) }))
	s.UnpagedFlag(cmd)
	return cmd
}

// run counts every record that passes.
func (n statsNoun[T, O]) run(s *cli.Session, cmd *cobra.Command, by []string) error {
	options, passes, err := n.prepare(cmd, by)
	if err != nil {
		return err
	}
	columns := n.columnsFor(by)
	client, _, err := cli.Open(cmd.Context(), s, "", columns)
	if err != nil {
		return err
	}
	if n.learn != nil {
		if err := n.learn(cmd.Context(), client, namesOf(by), options); err != nil {
			return err
		}
	}
	in, none := time.Local, ""
	if s.Flags.UTC {
		in = time.UTC
	}
	if len(by) > 0 {
		none = "(none)"
	}
	groups := chosenGroups(n.groups(s.App.Now(), in), by)
	counts := n.counts(groups, none)
	walk := apiclient.AllOptions{PageSize: apitype.MaxPageSize, Reuse: true}
	defer debug.SetGCPercent(debug.SetGCPercent(collectAt))
	var unread []error
	keep := func(err error) { unread = append(unread, err) }
	for value, err := range apiclient.Readable(n.of(client).All(cmd.Context(), options, walk), keep) {
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
		counts.Add(value)
	}
	rows := []statRow{}
	for _, g := range groups {
		for _, value := range sortedGroups(counts.Of(g.Name)) {
			rows = append(rows, rowOf(g.Name, value, *counts.Of(g.Name)[value], len(by) > 0))
		}
	}
	if slices.Contains(namesOf(by), byAgent) {
		nameAgents(s, cmd, client, rows)
	}
	if err := cli.ShowList(s, "", columns, rows); err != nil || len(unread) == 0 {
		return err
	}
	return aboutList(unreadable(unread, true)) // The numbers are without the unreadable ones.
}

// namesOf returns the single groups of --by.
func namesOf(by []string) []string {
	var names []string
	for _, name := range by {
		names = append(names, strings.Split(name, "+")...)
	}
	return names
}

// chosenGroups returns the groups that --by names, or the default ones. A group of two names, such as "agent+day", has
// a value for each pair.
func chosenGroups[T any](all []counts.Group[T], by []string) []counts.Group[T] {
	if len(by) == 0 {
		return slices.DeleteFunc(all, func(g counts.Group[T]) bool { return !g.Shown })
	}
	var chosen []counts.Group[T]
	for _, name := range by {
		var parts []counts.Group[T]
		for part := range strings.SplitSeq(name, "+") {
			if i := slices.IndexFunc(all, func(g counts.Group[T]) bool { return g.Name == part }); i >= 0 {
				parts = append(parts, all[i])
			}
		}
		if len(parts) == 1 {
			chosen = append(chosen, parts[0])
			continue
		}
		chosen = append(
			chosen,
			counts.Group[T]{Name: name, Each: func(value T) []string { return pairsOf(parts, value) }},
		)
	}
	return chosen
}

// pairsOf returns a value for each pair of the values that a record has in some groups.
func pairsOf[T any](groups []counts.Group[T], record T) []string {
	pairs := []string{""}
	for i, group := range groups {
		var longer []string
		for _, before := range pairs {
			for _, value := range group.Values(record, "(none)") {
				if i > 0 {
					value = before + ", " + value
				}
				longer = append(longer, value)
			}
		}
		pairs = longer
	}
	return pairs
}

// byCheck is the group of calls by missing required checks.
const byCheck = "check"

// missingChecks are the required checks that calls lack, by call.
type missingChecks map[apitype.UUID][]string

// read reads them from a service that marks calls.
func (m missingChecks) read(ctx context.Context, client *apiclient.Client) error {
	walk := apiclient.AllOptions{PageSize: apitype.MaxPageSize}
	for record, err := range client.MissingChecks.All(ctx, apitype.MissingChecksOptions{}, walk) {
		call, err := apiclient.Decoded(record, err)
		if err != nil {
			return err
		}
		m[call.CallUUID] = call.Missing
	}
	return nil
}

// group counts calls by their missing checks.
func (m missingChecks) group() counts.Group[apitype.Call] {
	return counts.Group[apitype.Call]{Name: byCheck, Each: func(c apitype.Call) []string { return m[c.UUID] }}
}

// byReason is the group of attempts by reason.
const byReason = "reason"

// attemptReasons are the reasons of the attempts of calls. A call counts once for each of its attempts.
type attemptReasons map[apitype.UUID][]string

// read reads them from a service that keeps reasons.
func (a attemptReasons) read(ctx context.Context, client *apiclient.Client, o apitype.CallListOptions) error {
	has, err := client.Has(ctx, apitype.ExtensionAttempts)
	if err != nil {
		return err
	}
	if !has {
		return cli.Failure(apiclient.KindRejected, "the service keeps no reasons of attempts")
	}
	o.Include, o.AttemptReasons = nil, true
	walk := apiclient.AllOptions{PageSize: apitype.MaxPageSize}
	for record, err := range client.Calls.All(ctx, o, walk) {
		if err != nil {
			return err
		}
		if len(record.Reasons) == 0 {
			continue
		}
		id, err := apitype.RecordUUID(record.Raw)
		if err != nil {
			return err
		}
		a[id] = apitype.Texts(record.Reasons)
	}
	return nil
}

// group counts attempts by their reason.
func (a attemptReasons) group() counts.Group[apitype.Call] {
	return counts.Group[apitype.Call]{Name: byReason, Each: func(c apitype.Call) []string { return a[c.UUID] }}
}

// byAgent is the group by user.
const byAgent = "agent"

// nameAgents adds the names of agents to their identifiers: the profile's, or else the service's.
func nameAgents(s *cli.Session, cmd *cobra.Command, client *apiclient.Client, rows []statRow) {
	names := map[string]string{}
	read, _, err := client.Settings(cmd.Context(), "")
	settings, _ := apiclient.Decoded(read, err) // A service without names leaves the identifiers.
	for _, user := range settings.Users {
		names[user.UUID.String()] = user.Name
	}
	maps.Copy(names, s.Defaults().Agents)
	for i := range rows {
		if part := slices.Index(strings.Split(rows[i].Group, "+"), byAgent); part >= 0 {
			rows[i].Name = names[strings.Split(rows[i].Value, ", ")[part]]
		}
	}
}

// rowOf returns the row of a count; by has the states, too.
func rowOf(group, value string, c counts.Count, by bool) statRow {
	row := statRow{Group: group, Value: value, Count: c.Records}
	if c.Rating.N > 0 {
		row.Rating = new(json.Number(strconv.FormatFloat(c.Rating.Value(), 'f', 2, 64)))
	}
	euros := func(cents int64) *json.Number { return new(json.Number(fmt.Sprintf("%d.%02d", cents/100, cents%100))) }
	if c.Pledged {
		row.Yearly, row.Once = euros(c.Yearly), euros(c.Once)
	}
	if by {
		row.States = c.States
		if c.Pledged {
			row.Amount = euros(c.Cents)
		}
	}
	return row
}

// columnsFor returns the columns of the statistics. With by, they include the states and the sums.
func (n statsNoun[T, O]) columnsFor(by []string) []render.Column[statRow] {
	columns := []render.Column[statRow]{
		{Name: "group", Default: true, Value: func(r statRow) string { return r.Group }},
		{
			Name:     "value",
			Default:  true,
			Flexible: true,
			Value:    func(r statRow) string { return r.Value },
		},
		countColumn("count", func(r statRow) int { return r.Count }),
	}
	if len(by) == 0 {
		return columns
	}
	if slices.Contains(namesOf(by), byAgent) {
		columns = slices.Insert(
			columns,
			2,
			render.Column[statRow]{
				Name:     "name",
				Default:  true,
				Flexible: true,
				Value:    func(r statRow) string { return r.Name },
			},
		)
	}
	for _, state := range n.states {
		columns = append(columns, countColumn(state, func(r statRow) int { return r.States[state] }))
	}
	return append(columns, n.columns...)
}

func countColumn(name string, of func(statRow) int) render.Column[statRow] {
	return render.Column[statRow]{
		Name:    name,
		Default: true,
		Right:   true,
		Value:   func(r statRow) string { return strconv.Itoa(of(r)) },
		Number:  func(r statRow) int64 { return int64(of(r)) },
	}
}

func numberColumn(name, title string, of func(statRow) *json.Number) render.Column[statRow] {
	return render.Column[statRow]{
		Name:     name,
		Title:    title,
		Default:  true,
		Right:    true,
		Value:    func(r statRow) string { return apitype.TextOf(of(r)) },
		IsNumber: func(r statRow) bool { return of(r) != nil },
	}
}

// sortedGroups returns the values of a group, numbers by their value.
func sortedGroups(rows map[string]*counts.Count) []string {
	return slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		x, err1 := strconv.ParseFloat(a, 64)
		y, err2 := strconv.ParseFloat(b, 64)
		if err1 == nil && err2 == nil {
			return cmp.Compare(x, y)
		}
		return strings.Compare(a, b)
	})
}
