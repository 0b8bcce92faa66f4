package commands

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// newPhone returns the digits of a number, often with zeros where its country's end.
func newPhone(random *rand.Rand) string {
	number := []string{"1", "7", "31", "49", "352", "298"}[random.IntN(6)]
	for length := 7 + random.IntN(5); len(number) < length; {
		digit := byte('0')
		if random.IntN(3) > 0 {
			digit += byte(random.IntN(4))
		}
		number += string(digit)
	}
	return number
}

// typedPhone returns an end of a number as a person may write it.
func typedPhone(random *rand.Rand, number string) string {
	const least = 6
	text := number[random.IntN(len(number)-least+1):]
	switch random.IntN(4) {
	case 0:
		return "+" + text
	case 1:
		return "0" + text[:2] + "-" + text[2:]
	case 2:
		return text[:3] + " " + text[3:]
	default:
		return text
	}
}

// A search of the service finds the same persons for a phone number as reading all of them.
func TestPhonesAreSearched(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(testing.TB) string{
		"sqlite": nil, "postgres": servicetest.PostgresDatabase,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := servicetest.New(t)
			if database != nil {
				servicetest.NeedPostgres(t)
				h = servicetest.NewOn(t, database(t))
			}
			random := rand.New(rand.NewPCG(54, 1))
			owner, token := h.Organization("a"), h.Token()
			var numbers []string
			for range 60 {
				numbers = append(numbers, newPhone(random))
				body := fmt.Sprintf(`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,%q:"+%s"}`, owner,
					owner,
					[]string{"phoneNumber", "mobilePhoneNumber"}[random.IntN(2)], numbers[len(numbers)-1])
				h.Do(token, "POST", "/api/v1/persons", body)
			}
			l := lineAt(t, h.URL, token)
			var typed []string
			for range 60 {
				text := typedPhone(random, numbers[random.IntN(len(numbers))])
				if len(strings.TrimLeft(apitype.Digits(text), "0")) >= 6 {
					typed = append(typed, text)
				}
			}
			find := func(text string) string {
				out, errs, code := l.run(t, "person list --all --phone", text, "-o", "id", "-q")
				if code != 0 {
					t.Fatalf("%s: got exit code %d and %s", text, code, errs)
				}
				found := strings.Fields(out)
				slices.Sort(found)
				return strings.Join(found, " ")
			}
			h.InterfaceOnly()
			var want []string
			for _, text := range typed {
				want = append(want, find(text))
			}
			h.InterfaceOnly(apitype.ExtensionSearch)
			for i, text := range typed {
				if got := find(text); got != want[i] || got == "" {
					t.Errorf("%s: got %s, want %s", text, got, want[i])
				}
			}
		})
	}
}
