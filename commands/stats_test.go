package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render/counts"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/tui/desk"
	"fundesk/tui/desk/event"
	"fundesk/tui/page"
)

// idleHost does nothing of what the day of an agent asks for.
type idleHost struct{ page.Host }

func (idleHost) Perform([]event.Event) tea.Cmd { return nil }

// call stats and pledge stats print the numbers of the Stats page: all calls by their attempts, the mean rating, and
// the pledged amounts of a year and of single gifts.
func TestStatsAreThoseOfThePage(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	c := &faultCase{T: t, service: h, token: h.Token(), owner: h.Organization("AID")}
	newCall := func() string {
		c.load()
		return c.names.Replace("$CALL")
	}
	for n := range 5 {
		call := newCall()
		for range n {
			h.Do(c.token, "PUT", "/api/v1/calls/"+call+"/actions/add-attempt", `{}`)
		}
		if n%2 == 1 {
			h.Do(c.token, "PUT", "/api/v1/calls/"+call+"/actions/complete",
				fmt.Sprintf(`{"result":{"resultCode":"glad","donorRetentionRating":%d}}`, n))
		}
	}
	owner := apitype.MustParseUUID(c.names.Replace("$PERSON"))
	for n, interval := range []apitype.DonationInterval{"once", "monthly", "yearly"} {
		now := apitype.NewTime(h.Clock.Now())
		pledge := apitype.Pledge{
			UUID:                       apitype.NewUUID(),
			Status:                     apitype.PledgeActive,
			DonationInterval:           interval,
			InitialDonationInterval:    interval,
			DonationAmount:             apitype.Cents(int64(1250 + n)),
			InitialDonationAmount:      apitype.Cents(1250),
			Person:                     apitype.Embed(apitype.Person{UUID: owner}),
			CreatedAt:                  now,
			UpdatedAt:                  now,
			StartsAt:                   now,
			OwningOrganizationUUID:     c.owner,
			RecruitingOrganizationUUID: c.owner,
			RecruiterUserUUID:          apitype.NewUUID(),
		}
		h.Load(service.LoadRecord{Kind: service.LoadPledge, Data: service.LoadedPledge{Pledge: pledge}})
	}
	printed := map[string]map[string]any{}
	l := lineAt(t, h.URL, c.token)
	l.now = h.Clock.Now
	for _, line := range []string{"call stats", "call stats --by age,completed", "pledge stats"} {
		var rows []map[string]any
		servicetest.Check(t, json.Unmarshal([]byte(l.must(t, line+" -o json")), &rows))
		noun, _, _ := strings.Cut(line, " ")
		for _, row := range rows {
			printed[fmt.Sprint(noun, " ", row["group"], " ", row["value"])] = row
		}
	}
	client, err := apiclient.New(apiclient.Options{
		BaseURL:   h.URL,
		Token:     func(context.Context) (string, error) { return c.token, nil },
		Transport: h.Transport(),
		Now:       h.Clock.Now,
	})
	servicetest.Check(t, err)
	day := desk.New(desk.Options{Client: client, Outbox: new(outbox.Outbox), Now: h.Clock.Now})
	v := page.NewStats(page.NewEnv(t.Context(), idleHost{}, day, page.NewStyles("", true, false)))
	for cmd := tea.Cmd(v.Open()); cmd != nil; {
		read, is := cmd().(page.Result)
		if !is {
			break
		}
		cmd = read.TakeIn()
	}
	compare := func(noun, group string, counts map[string]*counts.Count) {
		if len(counts) == 0 {
			t.Errorf("%s: the page holds nothing by %s", noun, group)
		}
		for value, count := range counts {
			row := printed[noun+" "+group+" "+value]
			if row == nil || row["count"] != float64(count.Records) {
				t.Errorf("%s by %s, %s: the page holds %d, the command prints %v",
					noun, group, value, count.Records, row)
				continue
			}
			if rating, _ := row["meanRating"].(float64); count.Rating.N > 0 && rating != count.Rating.Value() {
				t.Errorf("%s by %s, %s: the page has a mean rating of %g, the command of %g",
					noun, group, value, count.Rating.Value(), rating)
			}
			if yearly, _ := row["euroAYear"].(float64); noun == "pledge" && int64(yearly*100+0.5) != count.Yearly {
				t.Errorf("%s by %s, %s: the page has %d cents a year, the command %g Euros",
					noun, group, value, count.Yearly, yearly)
			}
		}
	}
	for _, group := range []string{"attempts", "result", "type", "age", "completed"} {
		compare("call", group, v.Calls.Of(group))
	}
	compare("pledge", "status", v.Pledges.Of("status"))
	servicetest.Same(t, "groups of attempts", 5, len(v.Calls.Of("attempts")))
}

// Agents are counted by identifier, next to the name that the service has.
func TestStatsNameAgents(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	servicetest.Check(t, CopyDemo(home))
	environment := map[string]string{"HOME": home}
	out, errs, code := runWith(t, environment, "", "--profile demo call stats --by agent -o csv")
	rows := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || len(rows) < 8 || !strings.HasPrefix(rows[0], "group,value,name,count,") {
		t.Fatalf("got %d %q %s, want a name beside each value", code, out, errs)
	}
	for _, row := range rows[1:] {
		cells := strings.Split(row, ",")
		if cells[1] != "(none)" && (len(cells[1]) != 36 || !strings.Contains(cells[2], " ")) {
			t.Errorf("got %q, want a uuid with a name", row)
		}
	}
}

// A completion counts for its named user, even if another one tried the call, and for no user if it names none. Other
// calls count for the last user who tried, and so does everything at a service without completing users.
func TestStatsOfCompletions(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	token, owner := h.Token(), h.Organization("AID")
	environment := homeAt(t, h.URL, token)
	tried, completed := apitype.NewUUID().String(), apitype.NewUUID().String()
	for _, body := range []string{
		"",
		`{}`,
		fmt.Sprintf(`{"userUuid":%q}`, completed),
		fmt.Sprintf(`{"userUuid":%q}`, completed),
	} {
		_, call, _ := h.LoadForChanges(owner)
		path := "/api/v1/calls/" + call.String() + "/actions/"
		h.Do(token, "PUT", path+"add-attempt", fmt.Sprintf(`{"userUuid":%q}`, tried))
		if body != "" {
			h.Do(token, "PUT", path+"complete", body)
		}
	}
	for _, test := range []struct {
		name, filter string
		want         []string
	}{
		{"announced", "--requested-after=7d", []string{"(none)\t1\t1", completed + "\t2\t2", tried + "\t1\t0"}},
		{"of one", "--completed-by=" + completed, []string{completed + "\t2\t2"}},
		{"in lists alone", "--requested-after=7d", []string{"(none)\t1\t1", completed + "\t2\t2", tried + "\t1\t0"}},
		{"by filter alone", "--completed-by=" + completed, []string{completed + "\t2\t2"}},
		{"not announced", "--requested-after=7d", []string{tried + "\t4\t3"}},
	} {
		switch test.name {
		case "in lists alone": // No user is known by name.
			h.InterfaceOnly(apitype.ExtensionCompleters)
		case "by filter alone":
			h.InterfaceOnly(apitype.ExtensionCompletedBy)
		case "not announced":
			h.InterfaceOnly()
		}
		out, errs, code := runWith(
			t,
			environment,
			"",
			"call stats --by agent",
			test.filter,
			"-o",
			"tsv",
			"--columns",
			"value,count,completed",
		)
		got := strings.Split(strings.TrimSpace(out), "\n")
		if slices.Sort(test.want); code != 0 || !slices.Equal(got[len(got)-len(test.want):], test.want) {
			t.Errorf("%s: got %d %q %s, want %q", test.name, code, out, errs, test.want)
		}
	}
}
