package tui

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/tui/desk"
)

var (
	update = flag.Bool("update", false, "rewrite the golden screens")
	rounds = flag.Int("rounds", shortRounds,
		"how often the program is ended in each way; more than 2: on a machine with nothing else to do")
)

const shortRounds = 2

func TestMain(m *testing.M) {
	if os.Getenv(crashRole) != "" {
		crashDesk()
		return
	}
	if len(os.Args) > 2 && os.Args[1] == dialRole {
		noteArguments(os.Args[2:])
		return
	}
	flag.Parse()
	time.Local = time.UTC // The screens show local times.
	os.Exit(m.Run())
}

// ids returns identifiers that readers can tell apart.
func ids(kind byte, n int) apitype.UUID {
	id := apitype.MustParseUUID("00000000-0000-4000-8000-000000000000")
	id[0], id[1], id[15] = kind, byte(n), byte(n)
	return id
}

func personID(n int) apitype.UUID { return ids(0xa0, n) }
func pledgeID(n int) apitype.UUID { return ids(0xb0, n) }
func callID(n int) apitype.UUID   { return ids(0xc0, n) }

// oldestFirst is an agent who is spread to the first ten calls in their order, so that the next call in these tests is
// the oldest one.
var oldestFirst = apitype.MustParseUUID("e0000000-0000-4000-8000-00000027039d")

// onCard returns the part of a call that only the card shows: the number to dial.
func onCard(n int) string { return fmt.Sprintf("+31 6 12 34 56 7%d", n) }

// world is a real service with a few records, and what the interface needs of it.
type world struct {
	*servicetest.Harness
	options Options
	client  *apiclient.Client // Of the test itself, without anything between it and the service.
	box     *outbox.Outbox
	token   string
}

var organizationID = ids(0x10, 1)

// newWorld is newQueueWorld without extensions but the search.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := newQueueWorld(t)
	w.InterfaceOnly(apitype.ExtensionSearch) // What a queue changes has tests of its own.
	return w
}

// opened returns a world and a desk on it.
func opened(t *testing.T) (*world, *driver) {
	t.Helper()
	w := newWorld(t)
	return w, newDriver(t, w.options)
}

// clocks are the clocks of the worlds, by the name of the test.
var clocks sync.Map

// lookFirst lets a call be visible before a key that ends it, as an agent does.
func lookFirst(t testing.TB, key string) {
	if !slices.Contains([]string{"a", "s", "b", "X", "e", "ctrl+s"}, key) {
		return
	}
	for name := t.Name(); name != ""; name = name[:max(strings.LastIndexByte(name, '/'), 0)] {
		if clock, found := clocks.Load(name); found {
			clock.(*servicetest.Clock).Advance(time.Second)
			return
		}
	}
}

// newQueueWorld has six persons with a call each, the first the oldest. Person 2 has opted out of calls, person 3 was
// called an hour ago, call 6 is completed.
func newQueueWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Harness: servicetest.New(t)}
	clocks.Store(t.Name(), w.Clock)
	t.Cleanup(func() { clocks.Delete(t.Name()) })
	w.Load(service.LoadRecord{Kind: service.LoadOrganization, Data: service.LoadedOrganization{
		OrganizationReference: apitype.OrganizationReference{
			UUID:         organizationID,
			Name:         "Helder Water",
			Abbreviation: "SHW",
		},
	}})
	names := [][2]string{
		{"Anna", "Jansen"},
		{"Bert", "Opgegeven"},
		{"Carla", "Gebeld"},
		{"Dmitri", "世界\u202eevil\x1b[31m"},
		{"Zoë", "van der Straaten"},
		{"Fia", "Klaar"},
	}
	for i, name := range names {
		w.loadPerson(i+1, name[0], name[1])
		w.loadPledge(i + 1)
		w.loadCall(i + 1)
	}
	w.connect(t, t.TempDir())
	return w
}

// connect makes the client and the outbox of an agent.
func (w *world) connect(t *testing.T, dir string, rights ...servicetest.Right) {
	t.Helper()
	t.Cleanup(func() {
		const tries = 100
		for range tries { // A job that the Desk abandoned at its end may still write a file.
			if os.RemoveAll(dir) == nil {
				return
			}
		}
	})
	w.token = w.Token(rights...)
	var err error
	w.client, err = apiclient.New(apiclient.Options{
		BaseURL:   w.URL,
		Token:     staticToken(w.token),
		Transport: w.Transport(),
		Now:       w.Clock.Now,
		Sleep:     func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	servicetest.Check(t, err)
	account, err := w.client.Identity(t.Context())
	servicetest.Check(t, err)
	w.box, err = outbox.Open(dir, outbox.Options{BaseURL: w.URL, Account: account, Now: w.Clock.Now})
	servicetest.Check(t, err)
	w.options = Options{Profile: "test", Options: desk.Options{
		Client: w.client, Outbox: w.box, Now: w.Clock.Now, QuitWait: patience,
		Languages: []string{"nl"}, ResultCodes: []string{"reached", "refused", "moved"}, Agent: new(oldestFirst),
	}}
}

func (w *world) ago(d time.Duration) apitype.Time { return apitype.NewTime(w.Clock.Now().Add(-d)) }

func (w *world) loadPerson(n int, first, last string) {
	p := apitype.Person{
		UUID:                 personID(n),
		PersonUUID:           personID(n),
		FirstName:            &first,
		LastName:             &last,
		CreatedAt:            w.ago(1000 * time.Hour),
		IBAN:                 new("NL91ABNA0417164300"),
		MobilePhoneNumber:    new(fmt.Sprintf("+3161234567%d", n)),
		Email:                new("a@example.org"),
		Language:             new("nl"),
		OptInPhone:           new(n != 2),
		DateOfBirth:          &apitype.Date{Year: 1980, Month: 5, Day: 17},
		SocialSecurityNumber: apitype.Embed("123456789"),
		Address: apitype.Embed(apitype.Address{
			Street:      "Dorpsstraat",
			HouseNumber: "12",
			ZipCode:     "1234 AB",
			City:        "Utrecht",
			Country:     "NL",
		}),
		QualityResult: apitype.Embed(apitype.QualityResult{
			Score:      apitype.NumberFromInt(4 - n%2*2),
			MaxScore:   apitype.NumberFromInt(4),
			Percentage: apitype.NumberFromInt(100 - n%2*50),
			CreatedAt:  w.ago(time.Hour),
			GateResults: []apitype.GateResult{{
				Identifier:  "phone",
				Category:    "contact",
				Score:       apitype.NumberFromInt(0),
				MaxScore:    apitype.NumberFromInt(1),
				Percentage:  apitype.NumberFromInt(100 - n%2*100),
				Explanation: "The number was not reachable.",
			}},
		}),
	}
	w.Load(service.LoadRecord{Kind: service.LoadPerson, Data: service.LoadedPerson{
		Person: p, OwningOrganizationUUID: organizationID, RecruitingOrganizationUUID: organizationID,
	}})
}

func (w *world) loadPledge(n int) {
	p := apitype.Pledge{
		UUID:                       pledgeID(n),
		Status:                     apitype.PledgeLead,
		StartsAt:                   w.ago(900 * time.Hour),
		CreatedAt:                  w.ago(950 * time.Hour),
		UpdatedAt:                  w.ago(940 * time.Hour),
		OwningOrganizationUUID:     organizationID,
		RecruitingOrganizationUUID: organizationID,
		RecruiterUserUUID:          ids(0xe0, 2),
		InitialDonationAmount:      apitype.Cents(1250),
		DonationAmount:             apitype.Cents(1250),
		InitialDonationInterval:    "monthly",
		DonationInterval:           "monthly",
		Person:                     apitype.Embed(apitype.Person{UUID: personID(n)}),
		RecruitmentType:            new(apitype.RecruitmentType("street")),
	}
	w.Load(service.LoadRecord{Kind: service.LoadPledge, Data: service.LoadedPledge{Pledge: p}})
}

func (w *world) loadCall(n int) {
	c := apitype.Call{
		UUID:            callID(n),
		Status:          apitype.CallRequested,
		RequestedAt:     w.ago(time.Duration(100-n) * time.Hour),
		LastUpdatedAt:   w.ago(50 * time.Hour),
		PersonUUID:      personID(n),
		RelatedCaseUUID: new(pledgeID(n)),
		Type:            apitype.CallVerification,
		Notes:           new("Ask for the new address."),
	}
	switch n {
	case 3:
		c.AttemptsCount = 1
		c.Attempts = apitype.Embed([]apitype.CallAttempt{
			{UserUUID: new(ids(0xe0, 9)), AttemptAt: w.ago(time.Hour), CreatedAt: w.ago(time.Hour)},
		})
	case 6:
		c.Status, c.CompletedAt = apitype.CallCompleted, new(w.ago(3*time.Hour))
		c.Result = apitype.Embed(apitype.CallResult{
			ResultCode:           new("reached"),
			CompletedAt:          new(w.ago(3 * time.Hour)),
			Notes:                new("All is well."),
			DonorRetentionRating: new(apitype.NumberFromInt(8)),
		})
	}
	w.Load(service.LoadRecord{Kind: service.LoadCall, Data: service.LoadedCall{Call: c}})
}

// call returns a call as the service has it.
func (w *world) call(t *testing.T, id apitype.UUID) apitype.Call {
	t.Helper()
	call, err := apiclient.Decoded(w.client.Calls.Get(t.Context(), id))
	servicetest.Check(t, err)
	return call
}

// writeFile writes a file that only its owner reads.
func writeFile(t testing.TB, path, text string) {
	t.Helper()
	servicetest.Check(t, os.WriteFile(path, []byte(text), 0o600))
}

// deref returns the text, which may be missing.
func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
