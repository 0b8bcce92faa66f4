package desk

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
)

func TestLanguagesOfTheLocale(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		environment map[string]string
		want        []string
	}{
		{"a locale", map[string]string{"LANG": "nl_NL.UTF-8"}, []string{"nl"}},
		{"several languages", map[string]string{"LANGUAGE": "nl_NL:de:nl", "LANG": "en_US.UTF-8"}, []string{"nl", "de"}},
		{"messages come before the rest", map[string]string{"LC_MESSAGES": "de_DE", "LANG": "en_US"}, []string{"de"}},
		{"no language", map[string]string{"LC_ALL": "C.UTF-8", "LANG": "en_US"}, nil},
		{"nothing", nil, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := localeLanguages(func(name string) string { return test.environment[name] }); !slices.Equal(got, test.want) {
				t.Errorf("languages: got %v, want %v", got, test.want)
			}
		})
	}
}

// newDay is a desk without a service.
func newDay() *Day {
	return New(Options{Client: new(apiclient.Client), Outbox: new(outbox.Outbox), Languages: []string{"nl"}})
}

// A list is mostly calls that ended: the queue learns their results and keeps nothing
// else of them, also when they end while they wait.
func TestQueueKeepsNothingOfEndedCalls(t *testing.T) {
	t.Parallel()
	code := "confirmed"
	ended := func(n int) apitype.Call {
		c := apitype.Call{UUID: callID(n), Status: apitype.CallCompleted, Type: apitype.CallHappy}
		c.Result = apitype.Embed(apitype.CallResult{ResultCode: &code})
		return c
	}
	codes := new(Codes)
	q := newQueue(time.Now(), codes)
	for n := range 100 {
		q.learn(ended(n))
	}
	q.learn(apitype.Call{UUID: callID(100), Status: apitype.CallRequested})
	if got, _ := resultsOf(codes, apitype.CallHappy); len(q.candidates) != 1 || len(q.known) != 1 || !slices.Equal(got, []string{code}) {
		t.Errorf("got %d candidates, %d known calls and %v, want one, one, and one result", len(q.candidates), len(q.known), got)
	}
	q.learn(ended(100))
	if len(q.candidates) != 0 || len(q.known) != 0 {
		t.Errorf("got %d candidates and %d known calls, want none", len(q.candidates), len(q.known))
	}
}

// Every call that waits is learned anew, the one that is next, too; where the person is not shown
// with it, what was known of them stays.
func TestQueueLearnsWhatChanged(t *testing.T) {
	t.Parallel()
	q := newQueue(time.Now(), new(Codes))
	call := func(n, attempts int) apitype.Call {
		return apitype.Call{UUID: callID(n), Status: apitype.CallRequested, RequestedAt: apitype.NewTime(time.Unix(int64(n), 0)), AttemptsCount: attempts}
	}
	const calls = 3
	for n := range calls {
		known := call(n, 0)
		known.Person = apitype.Embed(apitype.Person{LastName: new("Jansen " + strconv.Itoa(n)), OptInPhone: new(false)})
		q.learn(known)
	}
	for n := range calls {
		q.learn(call(n, n+1))
	}
	for n, c := range q.candidates {
		if c.ID != callID(n) || c.Attempts != n+1 || c.Name != "Jansen "+strconv.Itoa(n) || !c.optedOut {
			t.Errorf("place %d: got %+v, want call %d with %d attempts, and its person as before", n, c, n, n+1)
		}
	}
	if len(q.candidates) != calls {
		t.Errorf("got %d candidates, want %d", len(q.candidates), calls)
	}
}

func TestSameNumberOfSomebodyElse(t *testing.T) {
	t.Parallel()
	d := newDay()
	call := func(n int, number string) apitype.Call {
		person := apitype.Person{UUID: callID(100 + n), MobilePhoneNumber: &number}
		return apitype.Call{UUID: callID(n), PersonUUID: person.UUID, Status: apitype.CallRequested, Person: apitype.Embed(person)}
	}
	d.queue.learn(call(1, "+31612345671"))
	d.queue.learn(call(2, "0031612345672"))
	own := call(3, "+31612345671")
	want := []string{"1 open call of another donor with the same number"}
	if got := d.Card.Warnings(own); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStaleResultsAreDropped(t *testing.T) {
	t.Parallel()
	d := newDay()
	d.Take(callID(1))
	first := d.seq
	d.Take(callID(2))
	d.onReread(callRead{seq: first, id: callID(1), call: apitype.Call{UUID: callID(1)}}, nil)
	if d.Call != nil {
		t.Errorf("got call %s, want none yet", d.Call.UUID)
	}
	d.onReread(callRead{seq: d.seq, id: callID(2), call: apitype.Call{UUID: callID(2)}}, nil)
	if !d.IsOn(callID(2)) {
		t.Errorf("got %+v, want the second call", d.Call)
	}
}
