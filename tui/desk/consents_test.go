package desk_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/card"
)

// contactFact returns the card's line with the ways to contact the donor.
func (a *agent) contactFact() string {
	facts := a.Card().Facts(func(said string) string { return cmp.Or(said, "?") })
	i := slices.IndexFunc(facts, func(f card.Fact) bool { return strings.Contains(strings.ToLower(f.String()), "sms") })
	return facts[i].String()
}

// withoutExtension is a service that does not announce an extension.
type withoutExtension struct {
	http.RoundTripper
	name string
}

func (w withoutExtension) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := w.RoundTripper.RoundTrip(r)
	if err == nil {
		names := answer.Header.Get(apitype.ExtensionsHeader)
		answer.Header.Set(apitype.ExtensionsHeader, strings.ReplaceAll(names, ", "+w.name, ""))
	}
	return answer, err
}

// The card shows the newest consent of each channel next to the opt-in, in the agent's language. It reads them once for
// a donor, and only from a service that announces them.
func TestCardShowsConsents(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		language string
		isPlain  bool
		want     string
	}{
		"English": {
			want: "phone yes · web form, 12 May 2026  e-mail no · withdrawn, 13 May 2026  post ?  sms ? · relation, letter, 14 May 2026",
		},
		"Dutch": {
			language: "nl",
			want:     "telefoon yes · web form, 12 mei 2026  e-mail no · ingetrokken, 13 mei 2026  post ?  sms ? · donateursrelatie, letter, 14 mei 2026",
		},
		"German": {
			language: "de",
			want:     "Telefon yes · web form, 12. Mai 2026  E-Mail no · widerrufen, 13. Mai 2026  Post ?  SMS ? · Spenderbeziehung, letter, 14. Mai 2026",
		},
		"no announcement": {"", true, "phone yes  e-mail no  post ?  sms ?"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFloor(t, 1)
			person := f.call(f.calls[0]).PersonUUID.String()
			for _, consent := range []string{
				`"phone","basis":"consent","source":"web form","at":"2026-05-12"`,
				`"phone","basis":"withdrawn","at":"2025-05-12"`,
				`"email","basis":"withdrawn","at":"2026-05-13"`,
				`"sms","basis":"customer","source":"letter","at":"2026-05-14"`,
			} {
				f.Do(f.token, http.MethodPost, "/fundesk/v1/persons/"+person+"/consents",
					fmt.Sprintf(`{"channel":%s}`, consent))
			}
			line := &faultyLine{}
			f.line = func(r http.RoundTripper) http.RoundTripper {
				line.RoundTripper = r
				if test.isPlain {
					line.RoundTripper = withoutExtension{r, apitype.ExtensionConsents}
				}
				return line
			}
			a := f.agent(t.TempDir())
			a.Language = test.language
			if a.Call == nil {
				a.press("n")
				a.perform(a.Next())
			}
			if got := a.contactFact(); got != test.want {
				t.Errorf("got %q\nwant %q", got, test.want)
			}
			a.perform(a.Poll())
			reads := 0
			for _, sent := range line.sent {
				if strings.HasSuffix(sent, "/consents") {
					reads++
				}
			}
			if want := map[bool]int{false: 1, true: 0}[test.isPlain]; reads != want {
				t.Errorf("got %d readings of consents, want %d: %q", reads, want, line.sent)
			}
		})
	}
}
