package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/commands/cli"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/tui/desk"
	"fundesk/tui/page"
)

// What call stats and pledge stats print is what the Stats page shows: all calls by their attempts, the mean rating, and
// what pledges give in a year and once.
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
			h.Do(c.token, "PUT", "/api/v1/calls/"+call+"/actions/complete", fmt.Sprintf(`{"result":{"resultCode":"glad","donorRetentionRating":%d}}`, n))
		}
	}
	owner := apitype.MustParseUUID(c.names.Replace("$PERSON"))
	for n, interval := range []apitype.DonationInterval{"once", "monthly", "yearly"} {
		now := apitype.NewTime(h.Clock.Now())
		pledge := apitype.Pledge{
			UUID: apitype.NewUUID(), Status: apitype.PledgeActive, DonationInterval: interval, InitialDonationInterval: interval,
			DonationAmount: apitype.Cents(int64(1250 + n)), InitialDonationAmount: apitype.Cents(1250), Person: apitype.Embed(apitype.Person{UUID: owner}),
			CreatedAt: now, UpdatedAt: now, StartsAt: now,
			OwningOrganizationUUID: c.owner, RecruitingOrganizationUUID: c.owner, RecruiterUserUUID: apitype.NewUUID(),
		}
		h.Load(service.LoadRecord{Kind: service.LoadPledge, Data: service.LoadedPledge{Pledge: pledge}})
	}
	printed := map[string]map[string]any{}
	for _, line := range [][]string{{"call", "stats", "-o", "json"}, {"call", "stats", "--by", "age,completed", "-o", "json"}, {"pledge", "stats", "-o", "json"}} {
		var out, errs bytes.Buffer
		environment := map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": h.URL, "FUNDESK_TOKEN": c.token}
		if code := Run(t.Context(), line, cli.App{Out: &out, Err: &errs, Now: h.Clock.Now, Getenv: func(name string) string { return environment[name] }}); code != 0 {
			t.Fatalf("%q: exit %d: %s", line, code, errs.String())
		}
		var rows []map[string]any
		servicetest.Check(t, json.Unmarshal(out.Bytes(), &rows))
		for _, row := range rows {
			printed[fmt.Sprint(line[0], " ", row["group"], " ", row["value"])] = row
		}
	}
	client, err := apiclient.New(apiclient.Options{BaseURL: h.URL, Token: func(context.Context) (string, error) { return c.token, nil }, Transport: h.Transport(), Now: h.Clock.Now})
	servicetest.Check(t, err)
	v := page.NewStats(page.NewEnv(t.Context(), nil, desk.New(desk.Options{Client: client, Outbox: new(outbox.Outbox), Now: h.Clock.Now}), page.NewStyles("", true, false)))
	for cmd := tea.Cmd(v.Open()); cmd != nil; {
		read, is := cmd().(page.Result)
		if !is {
			break
		}
		cmd = read()
	}
	compare := func(noun, group string, counts map[string]*desk.Count) {
		if len(counts) == 0 {
			t.Errorf("%s: the page holds nothing by %s", noun, group)
		}
		for value, count := range counts {
			row := printed[noun+" "+group+" "+value]
			if row == nil || row["count"] != float64(count.Records) {
				t.Errorf("%s by %s, %s: the page holds %d, the command prints %v", noun, group, value, count.Records, row)
				continue
			}
			if rating, _ := row["meanRating"].(float64); count.Rating.N > 0 && rating != count.Rating.Value() {
				t.Errorf("%s by %s, %s: the page has a mean rating of %g, the command of %g", noun, group, value, count.Rating.Value(), rating)
			}
			if yearly, _ := row["euroAYear"].(float64); noun == "pledge" && int64(yearly*100+0.5) != count.Yearly {
				t.Errorf("%s by %s, %s: the page has %d cents a year, the command %g Euros", noun, group, value, count.Yearly, yearly)
			}
		}
	}
	for _, group := range []string{"attempts", "result", "type", "age", "completed"} {
		compare("call", group, v.Calls.Of(group))
	}
	compare("pledge", "status", v.Pledges.Of("status"))
	if got := len(v.Calls.Of("attempts")); got != 5 {
		t.Errorf("got %d groups of attempts, want those of all calls", got)
	}
}

// Agents are counted by identifier, with the name beside it that the service has.
func TestStatsNameAgents(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	servicetest.Check(t, CopyDemo(home))
	environment := map[string]string{"HOME": home}
	out, errs, code := runWith(t, environment, "", "--profile", "demo", "call", "stats", "--by", "agent", "-o", "csv")
	rows := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || len(rows) < 8 || !strings.HasPrefix(rows[0], "group,value,name,count,") {
		t.Fatalf("got %d %q %s, want a name beside each value", code, out, errs)
	}
	for _, row := range rows[1:] {
		if cells := strings.Split(row, ","); cells[1] != "(none)" && (len(cells[1]) != 36 || !strings.Contains(cells[2], " ")) {
			t.Errorf("got %q, want a uuid with a name", row)
		}
	}
}

// A completion counts for the user whom it names, whoever tried the call, and for nobody if it names none. What is not
// completed counts for the last who tried, and so does everything at a service that does not say who completed a call.
func TestStatsOfCompletions(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	token, owner := h.Token(), h.Organization("AID")
	environment := map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": h.URL, "FUNDESK_TOKEN": token}
	tried, completed := apitype.NewUUID().String(), apitype.NewUUID().String()
	for _, body := range []string{"", `{}`, fmt.Sprintf(`{"userUuid":%q}`, completed), fmt.Sprintf(`{"userUuid":%q}`, completed)} {
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
		{"not announced", "--requested-after=7d", []string{tried + "\t4\t3"}},
	} {
		if test.name == "not announced" {
			h.InterfaceOnly()
		}
		out, errs, code := runWith(t, environment, "", "call", "stats", "--by", "agent", test.filter, "-o", "tsv", "--columns", "value,count,completed")
		got := strings.Split(strings.TrimSpace(out), "\n")
		if slices.Sort(test.want); code != 0 || !slices.Equal(got[len(got)-len(test.want):], test.want) {
			t.Errorf("%s: got %d %q %s, want %q", test.name, code, out, errs, test.want)
		}
	}
}

// A change whose record is worth a look, since its outcome is not known or its state refused it,
// says how to look; one that was refused for what it says does not.
func TestWhatToLookAtAfterAChange(t *testing.T) {
	t.Parallel()
	const hint = "see: fundesk call get " + testID
	for name, test := range map[string]struct {
		change http.HandlerFunc
		want   bool
	}{
		"a state that does not allow it": {status(409, "application/json", `{}`), true},
		"an outcome that is not known":   {reset, true},
		"a refusal of what it says":      {status(400, "application/json", `{}`), false},
		"no permission":                  {status(403, "application/json", `{}`), false},
		"an unknown record":              {status(404, "application/json", `{}`), false},
	} {
		_, errs, code := against(t, readsThen(test.change), "call", "attempt", testID, "--yes")
		if code == 0 || strings.Contains(errs, hint) != test.want {
			t.Errorf("%s: got exit code %d, %s, want the hint %v", name, code, errs, test.want)
		}
	}
}

// A record that cannot be read is named, and everything that walks lists goes around it: the
// others come, and the end is exit code 8.
func TestOneRecordHidesNoOther(t *testing.T) {
	t.Parallel()
	const times = `"requestedAt":"2026-11-20T09:15:00.000Z","createdAt":"2026-11-20T09:15:00.000Z","lastUpdatedAt":"2026-11-20T09:15:00.000Z","updatedAt":"2026-11-20T09:15:00.000Z"`
	good := func(id string) string {
		return `{"cursor":"` + id + `","node":{"uuid":"00000000-0000-4000-8000-00000000000` + id + `","status":"requested","type":"winback",` + times + `}}`
	}
	const badID = "00000000-0000-4000-8000-0000000000ff"
	bad := strings.NewReplacer("00000000-0000-4000-8000-000000000002", badID, `"requestedAt":"2026-11-20T09:15:00.000Z"`, `"requestedAt":5`,
		`"createdAt":"2026-11-20T09:15:00.000Z"`, `"createdAt":{}`).Replace(good("2"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		second := bad
		if strings.HasPrefix(r.URL.Path, "/null") {
			second = `{"cursor":"2","node":null}`
		}
		_, _ = io.WriteString(w, `{"pageInfo":{"hasNextPage":false,"endCursor":"3"},"edges":[`+good("1")+`,`+second+`,`+good("3")+`]}`)
	}))
	t.Cleanup(server.Close)
	for _, test := range []struct {
		line, base string
		code       int
		lines      int // On stdout.
		stderr     string
		moved      bool // The position of the pull.
	}{
		{"call list --all -o csv --no-header", "", 8, 2, badID, false},
		{"call list --all -o ndjson", "", 0, 3, "", false},
		{"call list --all -o ndjson", "/null", 8, 2, `the element at the cursor \"2\" is not a record`, false},
		{"call list --first 3 -o id", "/null", 8, 2, `the element at the cursor "2" is not a record`, false},
		{"person list --all -o tsv", "", 8, 2, badID, false},
		{"call stats -o csv --no-header", "", 8, 5, badID, false},
		{"call stats -o csv --no-header", "/null", 8, 5, "is not a record", false},
		{"call list --watch --updated-after 2026-11-01 --limit 2 -o id", "", 8, 2, badID, false},
		{"pull call", "", 0, 3, "3 records", true}, // As it was sent: nothing of it is lost.
		{"pull call -o csv --no-header", "", 8, 2, badID, false},
		{"pull call", "/null", 8, 2, "is not a record", false},
	} {
		t.Run(test.line+test.base, func(t *testing.T) {
			t.Parallel()
			environment := map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": server.URL + test.base, "FUNDESK_TOKEN": "token"}
			var stdout, stderr bytes.Buffer
			code := Run(t.Context(), strings.Fields(test.line), hasty(appOf(environment, strings.NewReader(""), &stdout, &stderr)))
			if got := strings.Count(stdout.String(), "\n"); code != test.code || got != test.lines || !strings.Contains(stderr.String(), test.stderr) {
				t.Errorf("got exit %d, %q and %q, want %d, %d lines and %q", code, stdout.String(), stderr.String(), test.code, test.lines, test.stderr)
			}
			kept, err := os.ReadDir(filepath.Join(environment["HOME"], ".local", "state", "fundesk", "pull"))
			if moved := err == nil && len(kept) > 0; moved != test.moved {
				t.Errorf("the position of a pull: got moved %v, want %v", moved, test.moved)
			}
		})
	}
}
