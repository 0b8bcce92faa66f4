package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// copying is a program that keeps a copy of persons by pulls, and the service that it copies.
type copying struct {
	*testing.T
	service *servicetest.Harness
	token   string
	owner   apitype.UUID
	env     map[string]string
	random  *rand.Rand
	persons []string          // Not erased.
	copied  map[string]string // Last names by uuid.
}

// ServeHTTP answers as the service, through front ends whose clocks differ and that drop headers of the service.
func (c *copying) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	recorded := httptest.NewRecorder()
	c.service.Handler.ServeHTTP(recorded, r)
	maps.Copy(w.Header(), recorded.Header())
	shift := time.Duration(c.random.IntN(7*24*60)-5*24*60) * time.Minute
	w.Header().Set("Date", c.service.Clock.Now().Add(shift).UTC().Format(http.TimeFormat))
	if c.random.IntN(2) == 0 {
		w.Header().Del(apitype.SettledHeader)
	}
	w.WriteHeader(recorded.Code)
	_, _ = recorded.Body.WriteTo(w)
}

// pull runs a pull on a machine with a wrong clock; it may break after some bytes, as one that is killed.
func (c *copying) pull(limit int, args ...string) (lines []map[string]any) {
	out := &failingWriter{left: limit}
	app := hasty(appOf(c.env, strings.NewReader(""), out, io.Discard))
	now := c.service.Clock.Now().Add(time.Duration(c.random.IntN(120)-60) * time.Minute)
	app.Now = func() time.Time { return now }
	code := Run(c.Context(), append([]string{"pull", "-q"}, args...), app)
	if isBroken := out.left == 0; code != 0 && !isBroken {
		c.Fatalf("pull %v: got exit code %d", args, code)
	}
	for line := range strings.Lines(out.String()) {
		var record map[string]any
		if strings.HasSuffix(line, "\n") && json.Unmarshal([]byte(line), &record) == nil {
			lines = append(lines, record)
		}
	}
	return lines
}

// nightly brings the copy up to date.
func (c *copying) nightly(limit int) {
	for _, person := range c.pull(limit, "person", "--updated") {
		c.copied[person["uuid"].(string)], _ = person["lastName"].(string)
	}
	for _, erased := range c.pull(limit, "erased") {
		delete(c.copied, erased["uuid"].(string))
	}
}

func (c *copying) step(n int) {
	name := fmt.Sprintf("Name%d", n)
	pick := func() string { return c.persons[c.random.IntN(len(c.persons))] }
	switch kind := c.random.IntN(12); {
	case kind < 4 || len(c.persons) == 0:
		id := apitype.NewUUID().String()
		body := fmt.Sprintf(`{"uuid":%q,"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%[2]q,"name":{"lastName":%q}}`, id, c.owner, name)
		c.do(http.MethodPost, "/api/v1/persons", body)
		c.persons = append(c.persons, id)
	case kind < 6:
		c.do(http.MethodPut, "/api/v1/persons/"+pick()+"/actions/update", `{"name":{"lastName":"`+name+`"}}`)
	case kind < 7:
		i := c.random.IntN(len(c.persons))
		id, _ := apitype.ParseUUID(c.persons[i])
		if _, err := c.service.Service.ErasePerson(c.Context(), id, service.EraseRequest{Reason: "r"}); err != nil {
			c.Fatal(err)
		}
		c.persons = append(c.persons[:i], c.persons[i+1:]...)
	case kind < 8:
		c.pull(1<<20, "person", "--updated", "--since", []string{"now", "1h", "2000-01-01"}[c.random.IntN(3)])
	case kind < 9:
		c.nightly(c.random.IntN(600))
	case kind < 10:
		c.nightly(1 << 20)
	default:
		c.service.Clock.Advance(time.Duration(c.random.IntN(300)) * time.Second)
	}
}

func (c *copying) do(method, path, body string) {
	if a := c.service.Do(c.token, method, path, body); a.Status >= 300 {
		c.Fatalf("%s %s: got %d %s", method, path, a.Status, a.Body)
	}
}

// A copy that is kept by pull equals the service, whatever is created, corrected, erased, looked at by --since,
// killed, and whatever the clocks of the front end and of this machine say.
func TestACopyEqualsTheService(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			h := plain(t)
			c := &copying{
				T: t, service: h, token: h.Token(), owner: h.Organization("AID"), random: rand.New(rand.NewPCG(seed, 40)), copied: map[string]string{},
			}
			server := httptest.NewServer(c)
			defer server.Close()
			c.env = map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": server.URL, "FUNDESK_TOKEN": c.token}
			for n := range 60 {
				c.step(n)
			}
			c.nightly(1 << 20)
			var out bytes.Buffer
			Run(t.Context(), []string{"person", "list", "--all", "-o", "ndjson"}, hasty(appOf(c.env, strings.NewReader(""), &out, io.Discard)))
			want := map[string]string{}
			for line := range strings.Lines(out.String()) {
				var person struct{ UUID, LastName string }
				servicetest.Check(t, json.Unmarshal([]byte(line), &person))
				want[person.UUID] = person.LastName
			}
			if diff := cmp.Diff(want, c.copied); diff != "" || len(want) != len(c.persons) {
				t.Errorf("got %d persons of %d; the copy differs (-service +copy):\n%s", len(want), len(c.persons), diff)
			}
		})
	}
}
