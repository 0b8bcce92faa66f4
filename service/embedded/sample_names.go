package embedded

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// country is what the sample knows about one country.
type country struct {
	Code, Language  string
	Women, Men      []string
	LastNames       []string
	Prefixes        []string // Of the last name; most have none.
	Streets         []string
	Cities          []city
	Bank            string // Of no bank that exists.
	AccountDigits   int
	Mobile, Landing string // Number prefixes in international format.
	MobileDigits    int
	LandingDigits   int
}

// city is a place with the beginning of its postal codes.
type city struct{ Name, Zip string }

//go:embed countries.json
var countriesText []byte

// countries returns the Netherlands and Germany.
var countries = sync.OnceValue(func() *[2]country {
	both := new([2]country)
	if err := json.Unmarshal(countriesText, both); err != nil {
		panic(err) // It is embedded.
	}
	return both
})

func dutch() *country  { return &countries()[0] }
func german() *country { return &countries()[1] }

// firstNames are the names that one person may have.
func (c *country) firstNames(s *sampler) []string {
	if s.maybe(50) {
		return c.Women
	}
	return c.Men
}
