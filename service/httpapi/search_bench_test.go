//go:build unix

package httpapi_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

var (
	searched = flag.Int("searched", 20_000, "persons in the database of BenchmarkSearch")
	searches = flag.String("searches", "",
		"what the kinds of searches that BenchmarkSearch measures have in their name")
)

// BenchmarkSearch prints how long a page of each kind of search takes: the median, the slowest twentieth and the
// slowest of many texts, each the least of five answers. Many persons share few names. FUNDESK_TEST_DATABASE names a
// database to keep, which is filled if it has no person. FUNDESK_TEST_POSTGRES=1 chooses PostgreSQL.
//
//	go test ./service/httpapi -run '^$' -bench BenchmarkSearch -benchtime 1x -searched 1000000 -timeout 2h
func BenchmarkSearch(b *testing.B) {
	h := servicetest.New(b)
	if len(h.Do(h.Token(), "GET", "/api/v1/persons?first=1", "").Object()["edges"].([]any)) == 0 {
		newPopulation(*searched).fill(b, h)
	}
	token := h.Token()
	page := func(query string) (took time.Duration, found int) {
		request := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/api/v1/persons?search="+query,
			http.NoBody)
		request.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		start := time.Now()
		h.Handler.ServeHTTP(w, request)
		took = time.Since(start)
		if w.Code != http.StatusOK {
			b.Fatalf("%s: got %d %s", query, w.Code, w.Body)
		}
		return took, strings.Count(w.Body.String(), `"cursor"`)
	}
	for b.Loop() {
		var all []time.Duration
		for _, kind := range searchKinds {
			if !strings.Contains(kind.name, *searches) {
				continue
			}
			p := newPopulation(*searched)
			p.random = rand.New(rand.NewPCG(3, 5))
			var took []time.Duration
			found := 0
			for range searchesOfKind {
				query := url.QueryEscape(p.typed(kind.text, p.person(p.random.IntN(*searched))))
				least, n := page(query)
				for range 4 { // Other programs disturb some.
					again, _ := page(query)
					least = min(least, again)
				}
				took = append(took, least)
				found += n
			}
			all = append(all, took...)
			printSearches(kind.name, took, float64(found)/searchesOfKind)
		}
		printSearches("all", all, 0)
	}
}

const searchesOfKind = 60

// printSearches prints the median, the slowest twentieth and the slowest of some times, and the persons of a page.
func printSearches(name string, took []time.Duration, found float64) {
	slices.Sort(took)
	median, slow, slowest := took[len(took)/2], took[len(took)*95/100], took[len(took)-1]
	fmt.Printf("| %-36s | %6.2f ms | %6.2f ms | %6.2f ms | %4.1f |\n", name, ms(median), ms(slow), ms(slowest), found)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// searchKinds are texts that an agent types for a person, with words for what is known of the person: <last:2> stands
// for two letters of the last name, <other-last> is of another person, and <top10-last> one of the ten names of most.
var searchKinds = []struct{ name, text string }{
	{"a last name", "<last>"},
	{"a first name", "<first>"},
	{"the most frequent last name", "<top10-last>"},
	{"the most frequent first name", "<top10-first>"},
	{"first and last name", "<first> <last>"},
	{"frequent first and last name", "<top20-first> <top20-last>"},
	{"a letter", "<last:1>"},
	{"two letters", "<last:2>"},
	{"three letters", "<last:3>"},
	{"a letter and a letter", "<first:1> <last:1>"},
	{"two letters and two letters", "<first:2> <last:2>"},
	{"three letters and three letters", "<first:3> <last:3>"},
	{"two letters of two persons", "<first:2> <other-last:2>"},
	{"two frequent letters of two persons", "<top20-first:2> <top20-last:2>"},
	{"a letter and a last name", "<first:1> <last>"},
	{"prefix and last name", "van <last>"},
	{"prefix and three letters", "van <last:3>"},
	{"a phone number", "0<digits>"},
	{"a phone number from abroad", "+31<digits>"},
	{"the last four digits", "<four>"},
	{"four digits and two letters", "<four> <last:2>"},
	{"an e-mail address", "<email>"},
	{"the beginning of an e-mail address", "<first:3>@"},
	{"a postcode", "<postcode>"},
	{"a postcode and a number", "<postcode> <house>"},
	{"digits of a postcode and two letters", "<postcode:4> <last:2>"},
	{"an IBAN", "<iban>"},
	{"the bank of an IBAN and a letter", "<iban:8> <last:1>"},
	{"a name that none has", "<first:1> <last>qx"},
}

var searchWord = regexp.MustCompile(`<(?:top(\d+)-|(other)-)?(\w+)(?::(\d+))?>`)

// typed returns a text of searchKinds for a person.
func (p *population) typed(text string, of apitype.Person) string {
	return searchWord.ReplaceAllStringFunc(text, func(word string) string {
		parts := searchWord.FindStringSubmatch(word)
		person := of
		if parts[2] != "" {
			person = p.person(p.random.IntN(1000))
		}
		digits, address := (*person.MobilePhoneNumber)[3:], person.Address.Pointer()
		known := map[string]string{
			"first":    *person.FirstName,
			"last":     *person.LastName,
			"digits":   digits,
			"four":     digits[len(digits)-4:],
			"email":    *person.Email,
			"iban":     *person.IBAN,
			"postcode": address.ZipCode,
			"house":    address.HouseNumber,
		}[parts[3]]
		if most, err := strconv.Atoi(parts[1]); err == nil {
			known = map[string][]string{"first": p.first, "last": p.last}[parts[3]][p.random.IntN(most)]
		}
		if letters, err := strconv.Atoi(parts[4]); err == nil {
			known = known[:letters]
		}
		return known
	})
}

// A population makes the same persons each time.
type population struct {
	random      *rand.Rand
	first, last []string // The most frequent first.
}

func newPopulation(persons int) *population {
	p := &population{random: rand.New(rand.NewPCG(1, 2))}
	p.first = p.names(persons/100,
		"m j a h w c p e t l r s g d k b n f i o",
		"a o e i an el ar en ie in",
		"n s k t r l rt nne ke tine ria ne co na ta", 1)
	p.last = p.names(persons/5,
		"b d h j k m p r s v w g l t br schr kl st kr",
		"a e o i aa ee oe ui ij ou er an",
		"kker ng nsen rs jk ker sma ma r nk ts n vens ls", 2)
	return p
}

// names makes some words from beginnings, middles and ends. The earlier ones come more often.
func (p *population) names(n int, beginnings, middles, ends string, most int) []string {
	n = max(n, 100)
	b, m, e := strings.Fields(beginnings), strings.Fields(middles), strings.Fields(ends)
	often := func(all []string) string { return all[min(int(p.random.ExpFloat64()*float64(len(all))/3), len(all)-1)] }
	known := map[string]bool{}
	var names []string
	for len(names) < n {
		name := often(b)
		for range 1 + p.random.IntN(most) + len(names)*2/n {
			name += often(m) + []string{"n", "r", "l", "s", "d", "k", "t", "m", "b", "v"}[p.random.IntN(10)]
		}
		name += often(m) + often(e)
		if !known[name] {
			known[name] = true
			names = append(names, name)
		}
	}
	return names
}

// frequent returns a number below n: 0 is the most frequent, of about one in 60 for names.
func frequent(random *rand.Rand, n int) int {
	const bend = 12 // The first ones are about equally frequent.
	z := rand.NewZipf(random, 1.08, bend, uint64(n-1))
	return int(z.Uint64())
}

// person returns the person with an ordinal, always the same.
func (p *population) person(i int) apitype.Person {
	r := rand.New(rand.NewPCG(uint64(i), 77))
	digits := func(n int) string {
		text := make([]byte, n)
		for i := range text {
			text[i] = byte('0' + r.IntN(10))
		}
		return string(text)
	}
	first, last := p.first[frequent(r, len(p.first))], p.last[frequent(r, len(p.last))]
	person := apitype.Person{
		FirstName:         new(strings.ToUpper(first[:1]) + first[1:]),
		LastName:          new(strings.ToUpper(last[:1]) + last[1:]),
		Initials:          new(strings.ToUpper(first[:1]) + "."),
		MobilePhoneNumber: new("+316" + digits(8)),
		Email:             new(first + "." + last + strconv.Itoa(r.IntN(100)) + "@example.org"),
		IBAN:              new(dutchIBAN([]string{"INGB", "RABO", "ABNA", "TRIO"}[r.IntN(4)] + digits(10))),
		Language:          new("nl"),
		OptInPhone:        new(true),
		Address: apitype.Embed(apitype.Address{
			Street: "Dorpsstraat", HouseNumber: strconv.Itoa(1 + r.IntN(180)), City: "Utrecht", Country: "NL",
			ZipCode: strconv.Itoa(1000+r.IntN(9000)) + " " + string(rune('A'+r.IntN(26))) +
				string(rune('A'+r.IntN(26))),
		}),
	}
	if r.IntN(5) == 0 {
		person.LastNamePrefix = new([]string{"van", "de", "van der", "van den", "ten"}[r.IntN(5)])
	}
	if r.IntN(3) == 0 {
		person.PhoneNumber = new("+3120" + digits(7))
	}
	return person
}

// dutchIBAN returns the IBAN of an account.
func dutchIBAN(account string) string {
	remainder := 0
	for _, c := range account + "NL00" {
		if c >= 'A' {
			remainder = (remainder*100 + int(c-'A') + 10) % 97
		} else {
			remainder = (remainder*10 + int(c-'0')) % 97
		}
	}
	return fmt.Sprintf("NL%02d%s", 98-remainder, account)
}

// fill adds the persons of a population, the oldest first.
func (p *population) fill(b *testing.B, h *servicetest.Harness) {
	b.Helper()
	owners := []apitype.UUID{h.Organization("A"), h.Organization("B"), h.Organization("C")}
	bulk := sqlstore.Options{Database: h.Database, Postgres: pgdriver.Driver{}, Bulk: true}
	store, err := sqlstore.Open(b.Context(), bulk)
	servicetest.Check(b, err)
	loader, err := service.New(b.Context(), service.Options{Store: store, Now: h.Clock.Now})
	servicetest.Check(b, err)
	servicetest.Check(b, servicetest.Load(b.Context(), loader, func(add func(service.LoadRecord) error) error {
		for i := range *searched {
			person := p.person(i)
			person.UUID = apitype.NewUUID()
			person.PersonUUID = person.UUID
			person.CreatedAt = apitype.NewTime(servicetest.Start.Add(-time.Duration(*searched-i) * time.Minute))
			owner := owners[min(i%10/4, 2)] // Of one there are few.
			loaded := servicetest.NewPerson(owner, person.CreatedAt)
			loaded.Person = person
			if err := add(servicetest.Record(loaded)); err != nil {
				return err
			}
		}
		return nil
	}))
	servicetest.Check(b, store.Analyze(b.Context()))
	servicetest.Check(b, store.Close())
}
