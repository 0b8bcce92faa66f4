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
