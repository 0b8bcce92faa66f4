package card_test

import (
	"slices"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/entry"
)

// A donor without a date of birth can have a social security number, which is read in the same fact.
func TestBirthAndSocialSecurityNumber(t *testing.T) {
	t.Parallel()
	tests := []struct {
		born *apitype.Date
		want string
	}{
		{nil, "none · social security number •••••••89"},
		{&apitype.Date{Year: 1980, Month: 5, Day: 17}, "17 May 1980 · social security number •••••••89"},
	}
	for _, test := range tests {
		person := apitype.Person{DateOfBirth: test.born, SocialSecurityNumber: apitype.Embed("123456789")}
		call := &apitype.Call{Person: apitype.Embed(person)}
		k := card.Card{Form: entry.Form{Call: call, Entered: new(entry.Entered), Now: time.Now}}
		facts := k.Facts(func(said string) string { return said })
		i := slices.IndexFunc(facts, func(f card.Fact) bool { return f.ID == "dateOfBirth" })
		servicetest.Same(t, "fact", test.want, facts[i].String())
	}
}
