package page

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/tui/desk"
)

// Promise P7: a link that is not https is not offered.
func TestOnlyWebLinksAreOffered(t *testing.T) {
	t.Parallel()
	tests := []struct {
		link string
		want bool
	}{
		{"https://files.example/s/1?sig=a%2Fb", true},
		{"HTTPS://files.example/s", true},
		{"http://127.0.0.1:8080/signatures/1", true},
		{"http://[::1]:8080/s", true},
		{"http://localhost/s", true},
		{"http://embedded.localhost/signatures/1?expires=2", true}, // Of the demo.
		{"http://evillocalhost/s", false},
		{"http://files.example/s", false},
		{"http://127.0.0.1.example/s", false},
		{"http://localhost@files.example/s", false},
		{"https://files.example@evil.example/s", false},
		{"file:///etc/passwd", false},
		{"ftp://files.example/s", false},
		{"/etc/passwd", false},
		{"--help", false},
		{"-oProxyCommand=sh", false},
		{"https:files.example", false},
		{"https://", false},
		{"javascript:alert(1)", false},
		{"https://files.example/\u202egpj.exe", false},
		{"https://files.example/\u200b", false},
		{"https://files.example/\x1b]0;title\a", false},
		{"https://files.example/\n--help", false},
		{"https://files.example/$(id) x", false},
		{"https://files.example/`id`", false},
	}
	for _, test := range tests {
		if got := isWebLink(test.link); got != test.want {
			t.Errorf("%q: got %v, want %v", test.link, got, test.want)
		}
	}
}

// What is copied from a record has no line that a shell would run, and nothing unseen.
func TestCopiedValuesAreClean(t *testing.T) {
	t.Parallel()
	got := copyText("phone", "+31612345678\nrm -rf ~\x1b]52;c;x\a\u202e\u009b")().(Copied).Text
	if strings.ContainsFunc(got, func(r rune) bool {
		return r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) || r == 0x202e
	}) || !utf8.ValidString(got) {
		t.Errorf("copied: got %q, want one visible line", got)
	}
	if exact := "my own\nnotes"; copyOwn("text", exact)().(Copied).Text != exact {
		t.Error("own text: got it changed, want it exact")
	}
}

// The cost of a frame does not depend on the number of rows.
func BenchmarkListFrame(b *testing.B) {
	for _, rows := range []int{100, 100_000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			s := NewEnv(b.Context(), &host{}, desk.New(desk.Options{
				Outbox: new(outbox.Outbox),
			}), NewStyles("", false, false))
			l := NewCalls(s)
			for i := range rows {
				l.Rows = append(l.Rows, l.row(apitype.Call{
					Status:        "requested",
					Type:          "verification",
					RequestedAt:   apitype.NewTime(time.Now()),
					AttemptsCount: i % 4,
				}))
			}
			layout := NewLayout(120, 40)
			l.Resize(layout)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				l.table.Move(1+i%3, rows)
				if l.table.Cursor() == rows-1 {
					l.table.Place(0, rows)
				}
				_ = l.Lines(layout)
			}
		})
	}
}

// callID returns an identifier that readers can tell apart.
func callID(n int) apitype.UUID {
	id := apitype.MustParseUUID("c0000000-0000-4000-8000-000000000000")
	id[1], id[15] = byte(n), byte(n)
	return id
}

// Numbers and dates are shown as at home; what is copied works everywhere.
func TestCopiedValuesWorkEverywhere(t *testing.T) {
	t.Parallel()
	e := NewEnv(t.Context(), nil, desk.New(desk.Options{Outbox: new(outbox.Outbox)}), NewStyles("", false, false))
	e.Day.Locale = render.LocaleFrom(func(name string) string { return map[string]string{"LANG": "nl_NL.UTF-8"}[name] })
	f := &fields{Env: e}
	person := apitype.Person{
		MobilePhoneNumber: new("+31612345671"),
		DateOfBirth:       &apitype.Date{Year: 1980, Month: 5, Day: 17},
	}
	f.phones(person)
	f.person(person)
	shown, copies := map[string]string{}, map[string]string{}
	for _, x := range f.all {
		shown[x.label], copies[x.label] = x.text, x.copy
	}
	if shown["mobile"] != "06 12 34 56 71" || shown["born"] != "17-05-1980" {
		t.Errorf("shown: got %q, want the number and the date as at home", shown)
	}
	if copies["mobile"] != "+31612345671" || copies["born"] != "1980-05-17" {
		t.Errorf("copied: got %q, want the number and the date as the service has them", copies)
	}
}

// texts returns the texts of messages. Nil if there are none.
func texts(messages []Message) []string {
	var all []string
	for _, m := range messages {
		all = append(all, m.Text)
	}
	return all
}

// A filter of words reads on until something is found: its bound is for what follows.
func TestFilterReadsOnUntilSomethingIsFound(t *testing.T) {
	t.Parallel()
	l := NewPersons(NewEnv(t.Context(), nil, desk.New(desk.Options{
		Outbox: new(outbox.Outbox),
	}), NewStyles("", false, false)))
	l.More, l.searchN, l.arranged.terms = true, listSearchMax, []string{"vos"}
	if !l.wantsFound() {
		t.Error("nothing found: it has stopped reading")
	}
	l.Rows = []Row{l.row(apitype.Person{LastName: new("Vos")})}
	if l.arrange(); l.wantsFound() {
		t.Error("one found, and the bound reached: it reads on")
	}
	l.More, l.searchN = false, 0
	if l.wantsFound() {
		t.Error("it reads beyond the end")
	}
}
