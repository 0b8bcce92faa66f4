package page

import (
	"context"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// A prompt goes back to what was typed before, and on to nothing.
func TestPromptGoesBack(t *testing.T) {
	t.Parallel()
	p := &Prompt{
		history: []string{"first", "second"},
		changed: func(string) (string, tea.Cmd) { return "", nil }, complete: func(string) []string { return nil },
	}
	for _, step := range [][2]string{
		{"down", ""},
		{"up", "second"},
		{"up", "first"},
		{"up", "first"},
		{"down", "second"},
		{"down", ""},
	} {
		p.Key(press(step[0]))
		if got := p.Editor.Value(); got != step[1] {
			t.Errorf("%s: got %q, want %q", step[0], got, step[1])
		}
	}
}

// A count that fails shows it, and a stopped one is visible as such.
func TestStatsThatStop(t *testing.T) {
	t.Parallel()
	e, _ := scene(t, nil)
	v := NewStats(e)
	v.running = true
	v.Stop()
	if !v.stopped || v.WhyNotStop() == "" {
		t.Error("got it counting, want it stopped")
	}
	v.running = true
	no := &apiclient.Error{Kind: apiclient.KindRejected, Message: "no"}
	run(loadCount(v, func(context.Context) (int, error) { return 0, no }, func(int) tea.Cmd { return nil }))
	if got := strings.Join(texts(e.Messages.Errors), "\n"); got != "cannot count: no" || v.running {
		t.Errorf("got %q, running %t, want why it stopped", got, v.running)
	}
}

// A bar of an agent lists what it counts, if the service can list it.
func TestBarsOfAgents(t *testing.T) {
	t.Parallel()
	e, _ := scene(t, canned{"GET /api/v1/calls": `{"pageInfo":{},"edges":[]}`})
	v := NewStats(e)
	v.begins = morning
	v.agents = []apitype.QueueAgent{
		{UserUUID: callID(2), Attempts: 3, Completed: 5},
		{UserUUID: callID(1), Attempts: 4},
	}
	bars := func() (filters []string) {
		v.bars = nil
		v.agentLines(80)
		for _, list := range v.bars {
			name, _, _ := strings.Cut(list.filter, " updatedAfter=")
			filters = append(filters, name)
		}
		return filters
	}
	attempts := []string{"attemptBy=" + callID(1).String(), "attemptBy=" + callID(2).String()}
	if diff := cmp.Diff(append([]string{""}, attempts...), bars()); diff != "" {
		t.Errorf("not announced (-want +got):\n%s", diff)
	}
	if _, err := e.Day.Client.Calls.List(t.Context(), apitype.CallListOptions{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append([]string{"completedBy=" + callID(2).String()}, attempts...), bars()); diff != "" {
		t.Errorf("announced (-want +got):\n%s", diff)
	}
	if _, err := NewCalls(e).parse(v.bars[0].filter); err != nil {
		t.Errorf("got %v, want a list of it", err)
	}
}

// Of a pledge of ours it is known which action its state allows; of others it is not.
func TestActionsThatAStateAllows(t *testing.T) {
	t.Parallel()
	e, _ := scene(t, nil)
	v := NewPledges(e)
	released := apitype.Embed(ago(aDay))
	for _, test := range []struct {
		name   string
		pledge apitype.Pledge
		want   string
	}{
		{"a lead", apitype.Pledge{Status: apitype.PledgeLead}, "drop"},
		{"a released lead", apitype.Pledge{Status: apitype.PledgeLead, ReleasedAt: released}, "activate cancel"},
		{"an active one", apitype.Pledge{Status: apitype.PledgeActive, ReleasedAt: released}, "cancel fulfill"},
		{
			name: "one of another system",
			pledge: apitype.Pledge{
				Status:         apitype.PledgeLead,
				ExternalSource: apitype.Embed(apitype.ExternalSource{Name: "crm"}),
			},
			want: "activate drop cancel fulfill",
		},
	} {
		var allowed []string
		for _, action := range []apitype.PledgeAction{
			apitype.ActionActivate,
			apitype.ActionDrop,
			apitype.ActionCancel,
			apitype.ActionFulfill,
		} {
			if v.allows(v.row(test.pledge), action) {
				allowed = append(allowed, string(action))
			}
		}
		if got := strings.Join(allowed, " "); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	if !v.allows(v.row(apitype.Pledge{Status: apitype.PledgeLead}), "reopen") {
		t.Error("an action that we do not know is the service's to judge")
	}
}

// A question about many records names the first of them, and how many more there are.
func TestQuestionAboutManyRecords(t *testing.T) {
	t.Parallel()
	e, _ := scene(t, nil)
	var rows []Row
	calls := NewCalls(e)
	for n := range mostNames + 2 {
		name := string(rune('a' + n))
		rows = append(rows, calls.row(apitype.Call{
			UUID:   callID(n + 1),
			Status: "requested",
			Person: apitype.Embed(apitype.Person{LastName: &name}),
		}))
	}
	options := calls.bulkActions(rows, func() {})
	options[2].Run()
	if got := strings.Join(drawn(e.Dialog, e.Styles, 60, 30), "\n"); !strings.Contains(got, "and 3 more") {
		t.Errorf("got %s, want how many more there are", got)
	}
	e.Dialog.(*Confirm).Yes()
	if batch := e.Day.Changes.Batch; batch == nil || len(batch.Records) != len(rows) {
		t.Errorf("got %+v, want an expiry of each of the %d calls", batch, len(rows))
	}
}
