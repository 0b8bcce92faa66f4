package ask_test

import (
	"slices"
	"testing"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk"
	"fundesk/tui/desk/ask"
)

func questions(o desk.Options) (*desk.Day, *ask.Questions) {
	o.Client, o.Outbox = new(apiclient.Client), new(outbox.Outbox)
	d := desk.New(o)
	return d, ask.New(d)
}

// Without known results the card shows "/ another", and c asks for the code at once: a typed "/" is no part of it.
func TestFirstResultCode(t *testing.T) {
	t.Parallel()
	d, q := questions(desk.Options{})
	d.Call = &apitype.Call{Type: apitype.CallWinback, Status: apitype.CallRequested}
	for typed, want := range map[string]string{"/thanked": "thanked", " moved/abroad": "moved/abroad"} {
		q.Result(func() ask.Answer { return ask.Answer{} }).Typed(typed)
		if got := d.Form().ResultCode; got != want {
			t.Errorf("%q: got %q, want %q", typed, got, want)
		}
	}
}

// The agent turns types and languages of calls on and off, one after the other.
func TestNarrowingAsksOnAndOn(t *testing.T) {
	t.Parallel()
	_, q := questions(desk.Options{Languages: []string{"nl", "de"}})
	shown := func() (all []string) {
		for _, c := range q.Narrow().Choices {
			if c.IsOn != nil && *c.IsOn {
				all = append(all, c.Label)
			}
		}
		return all
	}
	for _, step := range []struct {
		choice int
		want   []string
	}{
		{1, []string{"happy call"}},
		{3, []string{"happy call", "German"}},
		{1, []string{"German"}},
		{3, nil},
	} {
		if next := q.Narrow().Choices[step.choice].Pick().Next; next == nil {
			t.Fatal("got no question after a choice")
		}
		if got := shown(); !slices.Equal(got, step.want) {
			t.Errorf("choice %d: got %q, want %q", step.choice, got, step.want)
		}
	}
}

// The draft of the call on the Desk is not another one to go on with, whenever the disk was read last.
func TestLatestDraftIsOfAnotherCall(t *testing.T) {
	t.Parallel()
	d, _ := questions(desk.Options{})
	resume, _ := ask.ActionOf("resume-draft")
	own, other := outbox.Draft{Call: apitype.NewUUID()}, outbox.Draft{Call: apitype.NewUUID()}
	d.Call = &apitype.Call{UUID: own.Call}
	for _, test := range []struct {
		drafts []outbox.Draft
		want   string
	}{
		{nil, "there is no draft"},
		{[]outbox.Draft{own}, "the draft is open already"},
		{[]outbox.Draft{own, other}, ""},
		{[]outbox.Draft{other, own}, ""},
	} {
		d.Changes.Drafts.All = test.drafts
		if got := resume.Why(d); got != test.want {
			t.Errorf("%d drafts: got %q, want %q", len(test.drafts), got, test.want)
		}
	}
	d.Call = nil
	if resume.Why(d) != "" {
		t.Error("without a call: got no draft to go on with")
	}
}
