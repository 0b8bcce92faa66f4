package render

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"

	"fundesk/apiclient/apitype"
)

// told lists the columns of a list on the screen: the width, the text for a record, and whether it grows, is aligned to
// the right, and sorts by a time or a number.
func told[T any](listed []Column[T], records ...T) string {
	view := View{Now: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)}
	var b strings.Builder
	for _, l := range listed {
		fmt.Fprintf(&b, "%s %d", l.Title, l.Width)
		if l.Grow {
			b.WriteString(" grows")
		}
		if l.Right {
			b.WriteString(" right")
		}
		if l.Time != nil {
			b.WriteString(" time")
		}
		if l.Number != nil {
			b.WriteString(" number")
		}
		for _, record := range records {
			fmt.Fprintf(&b, " [%s]", l.Cell(record, view).Text)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// An unknown detail of a person is an empty cell. agentCells are cells with the name of an agent.
var agentCells = AgentCells{
	Name:     func(apitype.QueueAgent) string { return "you" },
	Now:      func(apitype.QueueAgent) string { return "now" },
	Bar:      func(apitype.QueueAgent) string { return "bar" },
	Since:    func(apitype.QueueAgent) string { return "since" },
	LastHour: func(apitype.QueueAgent) int { return 4 },
	Results:  func(apitype.QueueAgent) string { return "was glad 5" },
}

func TestCellsOfAPerson(t *testing.T) {
	t.Parallel()
	born, err := apitype.ParseDate("1980-02-03")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, person := range []apitype.Person{{}, {DateOfBirth: &born, OptInEmail: new(true), OptInSMS: new(false)}} {
		for _, c := range PersonColumns() {
			if cell := c.In(person, View{Locale: LocaleFrom(env("LANG=nl_NL"))}); cell.Text != "" {
				got[c.Name] += cell.Text + Text{Text: "!", Role: cell.Role}.Paint()
			}
		}
	}
	diff := cmp.Diff(
		map[string]string{"dateOfBirth": "03-02-1980!", "optInEmail": "yes!", "optInSms": "no\x1b[31m!\x1b[0m"},
		got,
	)
	if diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Each list of the screen has its columns, and shows the known details of a record.
func TestListsOfTheScreen(t *testing.T) {
	t.Parallel()
	id, err := apitype.ParseUUID("5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10")
	if err != nil {
		t.Fatal(err)
	}
	at := apitype.NewTime(time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC))
	ann := apitype.Person{
		UUID:           id,
		Initials:       new("A."),
		LastNamePrefix: new(""),
		LastName:       new("Berg"),
		AcademicTitle:  new("Dr."),
		PhoneNumber:    new("+31201234567"),
		Language:       new("nl"),
		Email:          new("a@example.org"),
		CreatedAt:      at,
	}
	bo := apitype.Person{FirstName: new("Bo"), Initials: new("B."), PhoneNumber: new("1"), MobilePhoneNumber: new("2")}
	doors := apitype.Pledge{
		UUID:             id,
		Status:           "lead",
		DonationAmount:   apitype.Cents(1250),
		DonationInterval: "half-yearly",
		RecruitmentType:  new(apitype.RecruitmentType("d2d")),
		CreatedAt:        at,
	}
	street := apitype.Pledge{RecruitmentType: new(apitype.RecruitmentType("street"))}
	busy := apitype.QueueAgent{
		UserUUID:  id,
		CallUUID:  &id,
		Type:      new(apitype.CallType("happy_call")),
		TakenAt:   &at,
		Taken:     5,
		Attempts:  2,
		Completed: 3,
		Released:  1,
		ByResult:  map[string]int{"a_b": 2},
	}
	for _, test := range []struct{ got, want string }{
		{
			got: told(CallList(), apitype.Call{
				UUID:          id,
				Status:        "requested",
				Type:          "winback",
				RequestedAt:   at,
				AttemptsCount: 2,
			}),
			want: `Person 18 grows []
Type 12 [win-back]
Status 11 [requested]
Since 5 time [24h ago]
Tries 5 right number [2]
Result 10 grows []
UUID 8 [5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10]
`,
		},
		{told(PersonList(), ann, bo), `Name 20 grows [Dr. A. Berg] [Bo]
City 12 [] []
Phone 19 [+31 20 123 45 67] [2]
Created 7 time [24h ago] []
E-mail 12 grows [a@example.org] []
Language 9 [Dutch] []
UUID 8 [5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10] []
`},
		{told(PledgeList(), doors, street), `Donor 18 grows [] []
Amount 12 right number [12.50] [0.00]
Interval 11 [half-yearly] []
Status 11 [lead] []
Made 4 time [24h ago] []
Released 8 [no] [no]
Via 6 [door] [street]
Campaign 8 grows [] []
UUID 8 [5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10] []
`},
		{
			got: told(
				EntryList(),
				Entry{State: "queued", Label: "what", UUID: new("u"), CreatedAt: &at, Tries: 0, LastError: new("e")},
				Entry{Tries: -1},
			),
			want: `State 9 [queued] []
What 35 [what] []
Made 4 time [24h ago] []
Tries 5 right [0] []
Last answer 10 grows [e] []
`,
		},
		{told(QueueAgentList(agentCells), busy, apitype.QueueAgent{}), `Agent 22 [you] [you]
Now 12 [now] [now]
Since 8 [since] [since]
Taken 5 right number [5] [0]
Reached 7 right number [3] [0]
% 4 right [60] []
Attempts 8 right number [2] [0]
1 h 4 right [4] [4]
Later 5 right number [0] [0]
Call 9 [bar] [bar]
Results 12 grows [was glad 5] [was glad 5]
`},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("columns (-want +got), of which this test has its own lines:\n%s", diff)
		}
	}
}

// A record is read field by field: times with their distance, what a person writes as it is
// written there, and what a pledge repeats of its call once.
func TestFields(t *testing.T) {
	t.Parallel()
	const record = `{"":1,"at":{"requestedAt":"2026-09-21T09:00:00Z","createdAt":"2026-09-21T09:00:01Z","startsAt":"2027-01-19T09:00:00Z","endsAt":"2027-01-18T09:00:00Z","heldAt":"then","collectionDate":"2026-11-20T09:00:00Z"},` +
		`"person":{"phoneNumber":"+31201234567","dateOfBirth":"soon","calls":1},"pledgeCase":{"status":"lead","person":1,"calls":[2],"transactions":[3],"donationAmount":1234.5,"amounts":[10]},` +
		`"amount":7,"other":true,"none":null,"many":[[1,"x"],{}],"status":"\u0007","text":"a\nb"}`
	o := Options{Format: Table, Now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	const plain = `                           1
at.requestedAt             2026-09-21 09:00:00 UTC (60d ago)
at.createdAt               2026-09-21 09:00:01 UTC (59d ago)
at.startsAt                2027-01-19 09:00:00 UTC (in 60d)
at.endsAt                  2027-01-18 09:00:00 UTC (in 59d)
at.heldAt                  then
at.collectionDate          2026-11-20 09:00:00 UTC (now)
person.phoneNumber         +31201234567
person.dateOfBirth         soon
person.calls               1
pledgeCase.status          lead
pledgeCase.donationAmount  1234.5
pledgeCase.amounts.1       10
amount                     7
other                      true
many.1.1                   1
many.1.2                   x
status                     ␇
text                       a
                           b
`
	local := strings.NewReplacer("1234.5", "1.234,50", "    7\n", "    7,00\n", "+31201234567", "020 1234567",
		"2026-09-21 09:00", "21-09-2026 10:00", "2027-01-19 09:00", "19-01-2027 10:00",
		"2027-01-18 09:00", "18-01-2027 10:00", "2026-11-20 09:00", "20-11-2026 10:00", " UTC ", " CET ").Replace(plain)
	there := o
	there.Locale, there.Location = LocaleFrom(env("LANG=nl_NL")), time.FixedZone("CET", 3600)
	for want, o := range map[string]Options{plain: o, local: there} {
		var out bytes.Buffer
		if err := Record[any](&out, nil, o, []byte(record), nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	var out bytes.Buffer
	if err := Record[any](&out, nil, o, []byte(`{"":1}`), nil); err != nil || out.String() != "  1\n" {
		t.Errorf("a field without a name: got %q, %v", out.String(), err)
	}
}

// A text counted without the library has as many cells as promised, and is cut in the same way.
func TestWidthAgreesWithTheLibrary(t *testing.T) {
	t.Parallel()
	if runewidth.EastAsianWidth {
		t.Skip("the locale has letters of two cells")
	}
	var simple strings.Builder
	for r := rune(0x80); r < 0x3000; r++ {
		if !isSimple(r) {
			continue
		}
		simple.WriteRune(r)
		for _, text := range []string{
			string(r), "a" + string(r), string(r) + "b…", string(r) + "\u0301",
			"e" + string(r) + "漢",
		} {
			if got, want := Width(text), runewidth.StringWidth(text); got != want {
				t.Errorf("%q: got %d cells, want %d", text, got, want)
			}
		}
	}
	for _, text := range []string{
		"", "a", "Anneke", "Zoë Ångström", "漢字かな", "e\u0301e\u0301", "a\u200db", simple.String(),
	} {
		for width := 1; width < 12; width++ {
			if got, want := Cut(text, width), runewidth.Truncate(text, width, "…"); got != want {
				t.Errorf("%q to %d cells: got %q, want %q", text, width, got, want)
			}
		}
	}
}
