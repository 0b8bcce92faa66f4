package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// TestEnginesAnswerAlike plays one conversation to a service on SQLite and to one on
// PostgreSQL, with the same records, key and clock: every answer is the same, byte for
// byte, cursors and links included.
func TestEnginesAnswerAlike(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	server := servicetest.PostgresDatabase(t)
	file := "sqlite:" + filepath.Join(t.TempDir(), "a.db")
	sameKey(t, file, server)
	twins := &twins{t: t, engines: [2]*servicetest.Harness{servicetest.NewOn(t, file), servicetest.NewOn(t, server)}}
	for i, h := range twins.engines {
		// Other tests hold the answers against openapi.json: here they are too many.
		h.Serve(h.Service)
		h.Sample(25)
		for _, id := range []string{orgA, orgB} {
			h.OrganizationWith(service.Organization{
				OrganizationReference: apitype.OrganizationReference{
					UUID:         apitype.MustParseUUID(id),
					Name:         id[:4],
					Abbreviation: "ß",
				},
				CoolingOff: time.Hour, MaxCallAttempts: new(2),
			})
		}
		twins.tokens[i] = h.Token(servicetest.Sources("crm"))
		twins.scoped[i] = h.Token(servicetest.For(apitype.MustParseUUID(orgA)),
			servicetest.MayNot(service.PledgesUpdate))
	}
	twins.changes()
	twins.lists()
	if twins.asked < 400 {
		t.Errorf("got %d requests, want a long conversation", twins.asked)
	}
}

const (
	orgA = "aaaaaaaa-0000-4000-8000-000000000001"
	orgB = "bbbbbbbb-0000-4000-8000-000000000002"
)

// sameKey gives a database the key of another one.
func sameKey(t *testing.T, from, to string) {
	t.Helper()
	var stores [2]*sqlstore.Store
	for i, database := range []string{from, to} {
		store, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: database, Postgres: pgdriver.Driver{}})
		servicetest.Check(t, err)
		defer func() {
			servicetest.Report(t, store.Close())
		}()
		stores[i] = store
	}
	s, err := service.New(t.Context(), service.Options{Store: stores[1]})
	if err == nil {
		err = servicetest.Load(t.Context(), s, func(add func(service.LoadRecord) error) error {
			return stores[0].Dump(t.Context(), add)
		})
	}
	servicetest.Check(t, err)
}

// twins are two services that get the same requests.
type twins struct {
	t              *testing.T
	engines        [2]*servicetest.Harness
	tokens, scoped [2]string
	asked          int
}

// ask sends a request to both, compares what they answer, and is the body. 7 ms pass.
func (w *twins) ask(method, path, body string, more ...string) []byte {
	return w.askAs(w.tokens, method, path, body, more...)
}

func (w *twins) askAs(tokens [2]string, method, path, body string, more ...string) []byte {
	w.t.Helper()
	w.asked++
	var answers [2]servicetest.Answer
	var texts [2]string
	for i, h := range w.engines {
		h.Clock.Advance(7 * time.Millisecond)
		request := httptest.NewRequestWithContext(w.t.Context(), method, path, strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer "+tokens[i])
		request.Header.Set("X-Request-Id", fmt.Sprint(w.asked))
		if body != "" {
			request.Header.Set("Content-Type", "application/json")
		}
		if len(more) > 0 {
			request.Header.Set("If-Match", more[0])
		}
		answers[i] = h.Send(request)
		head := []string{fmt.Sprint(answers[i].Status)}
		for _, name := range []string{
			"Content-Type", "Etag", "Allow", "Retry-After", "X-Request-Id", "Www-Authenticate",
		} {
			head = append(head, answers[i].Header.Get(name))
		}
		texts[i] = strings.Join(head, " ")
	}
	if texts[0] != texts[1] || !bytes.Equal(answers[0].Body, answers[1].Body) {
		w.t.Errorf("%s %s: SQLite answers %s %s\nPostgreSQL %s %s",
			method, path, texts[0], answers[0].Body, texts[1], answers[1].Body)
	}
	return answers[0].Body
}

// numbered returns an identifier that sorts by its first byte.
func numbered(kind, n int) string {
	return fmt.Sprintf("%02x%02x0000-0000-4000-8000-00000000abcd", n*37%256, kind)
}

// texts are such as engines might compare or keep in their own ways.
var texts = []string{
	"a", "A", "b", "B", "ä", "é", "e\u0301", "Z", "_", "ß", "ss", "İ", "i", "😀", "\u00a0", "a ",
	"ﬀ", "'", `\"`, "%", "日本",
}

// changes creates, updates and moves, rightly and wrongly.
func (w *twins) changes() {
	for i, text := range texts {
		owner := []string{orgA, orgB}[i%2]
		person, pledge, call := numbered(1, i), numbered(2, i), numbered(3, i)
		// Of three that are made, two have the same time.
		if i%3 > 0 {
			for _, h := range w.engines {
				h.Clock.Advance(-21 * time.Millisecond)
			}
		}
		body := fmt.Sprintf(`{"uuid":%q,"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"name":{"lastName":"%s"},"iban":"NL91ABNA0417164300","optIns":{"sms":true},"mandate":{"id":"%s"}}`, person, owner, orgA, text, text)
		w.ask("POST", "/api/v1/persons", body)
		w.ask("POST", "/api/v1/persons", body)
		w.ask("PUT", "/api/v1/persons/"+person+"/actions/update",
			fmt.Sprintf(`{"academicTitle":"%s","iban":null}`, text))
		w.ask("PUT", "/api/v1/persons/"+person+"/actions/update", `{"email":"a@example.org"}`, `"1"`)
		w.ask("PUT", "/api/v1/persons/"+person+"/actions/update", `{"email":"b@example.org"}`, `"2"`)
		pledgeBody := fmt.Sprintf(`{"uuid":%q,"personUuid":%q,"createdAt":"2026-11-20T09:00:00.%03dZ","owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"initialDonationInterval":"monthly","initialDonationAmount":%d.50,"recruiterUserUuid":%q,"startsAt":"2026-12-01"}`,
			pledge, person, i/2, owner, orgA, i+1, user)
		w.ask("POST", "/api/v1/pledges", pledgeBody)
		w.ask("POST", "/api/v1/pledges", pledgeBody)
		w.ask(
			"POST",
			"/api/v1/calls",
			fmt.Sprintf(`{"uuid":%q,"personUuid":%q,"relatedCaseUuid":%q,"requestedAt":"2026-11-20T08:00:00.%03d+01:00","type":"winback","notes":"%s"}`, call, person, pledge, i/4, text),
		)
		w.ask(
			"POST",
			"/api/v1/calls",
			fmt.Sprintf(`{"uuid":%q,"personUuid":%q,"requestedAt":"2026-11-20T08:00:00Z","externalMetadata":{"applicationName":"%s","referenceId":"%s","statusCode":"%s","additionalProperties":{"b":1.50,"a":"%s"}}}`, numbered(4, i), person, text, text, text, text),
		)
		w.ask("POST", "/api/v1/calls",
			fmt.Sprintf(`{"personUuid":%q,"requestedAt":"x","type":"%s"}`, numbered(9, i), text))
		for range i % 4 {
			w.ask("PUT", "/api/v1/calls/"+call+"/actions/add-attempt", `{"attemptAt":"2026-11-20T10:00:00.5Z"}`)
		}
		move := []struct{ name, body string }{
			{"complete", `{"result":{"resultCode":"ok"}}`},
			{"cancel", `{}`},
			{"expire", `{}`},
		}[i%3]
		w.ask("PUT", "/api/v1/calls/"+call+"/actions/"+move.name, move.body)
		w.ask("PUT", "/api/v1/calls/"+call+"/actions/cancel", `{}`)
		w.ask("PUT", "/api/v1/calls/"+numbered(4, i)+"/actions/expire", `{"expiredAt":"2026-11-19"}`)
		w.ask("PUT", "/api/v1/pledges/"+pledge+"/actions/update",
			fmt.Sprintf(`{"donationAmount":%d.05,"endsAt":"2027-01-01"}`, i+1))
		w.ask("PUT", "/api/v1/pledges/"+pledge+"/actions/"+[]string{"drop", "activate", "cancel", "fulfill", "x"}[i%5],
			`{}`)
		w.askAs(w.scoped, "PUT", "/api/v1/pledges/"+pledge+"/actions/drop", `{}`)
		w.askAs(w.scoped, "PUT", "/api/v1/calls/"+call+"/actions/add-attempt", `{}`)
		marked := w.ask(
			"POST",
			"/api/v1/entity-access/actions/mark-processed",
			fmt.Sprintf(`{"entries":[{"entityName":"call","entityUuid":%q,"processedAt":"2026-11-20","externalSourceName":"crm"},{"entityName":"person","entityUuid":%q,"processedAt":"2026-11-20"}]}`, call, numbered(8, i)),
		)
		if !bytes.Contains(marked, []byte(`"errors":[{"entityName":"person"`)) {
			w.t.Errorf("marked a call and an unknown person: got %s, want the person refused", marked)
		}
		for _, path := range []string{
			"persons/" + person,
			"pledges/" + pledge,
			"calls/" + call,
			"calls/" + numbered(4, i),
		} {
			w.ask("GET", "/api/v1/"+path, "")
			w.askAs(w.scoped, "GET", "/api/v1/"+path, "")
		}
	}
	for _, h := range w.engines {
		h.Clock.Advance(2 * time.Hour) // Past the cooling-off.
	}
}

// lists walks every list with every filter and include, both ways.
func (w *twins) lists() {
	at := "2026-11-20T09:15:00.050Z"
	calls := []string{
		"", "owningOrganizationUuid=" + orgA,
		"requestedFrom=2026-11-20T07:00:00.001Z&requestedUntil=2026-11-20T07:00:00.003Z",
		"requestedAfter=2026-11-20T07:00:00.002Z", "updatedAfter=" + at,
		"updatedAfter=2026-11-01&owningOrganizationUuid=" + orgB,
		"externalApplicationName=null&externalReferenceId=null", "externalStatusCode=S1",
		"include=person", "include=personQualityResult,pledge,transactions&revisions=true",
		"include=transactions&updatedAfter=2026-01-01",
		"personUuid=" + numbered(1, 2), "status=completed&completers=true", "completedByUserUuid=" + numbered(9, 1),
		"attemptReasons=true", "checks=true",
	}
	for _, text := range texts[4:8] {
		text = url.QueryEscape(strings.ReplaceAll(text, `\"`, `"`))
		calls = append(calls, "externalStatusCode="+text, "externalApplicationName="+text+"&externalReferenceId="+text)
	}
	persons := []string{
		"", "owningOrganizationUuids=" + orgA + "," + orgB, "createdAfter=" + at, "iban=nl91%20abna%200417164300",
		"owningOrganizationUuids=" + numbered(9, 1),
		"updatedAfter=" + at, "search=a", "revisions=true", "consents=true",
	}
	pledges := []string{
		"", "personUuid=" + numbered(1, 2), "withPaymentQr=true", "withPaymentQr=false", "status=lead",
		"status=dropped&updatedAfter=" + at,
		"updatedAfter=" + at, "releasedAfter=2026-11-20T10:00:00.001Z",
		"releasedAfter=2020-01-01&include=transactions", "include=transactions&revisions=true",
	}
	queries := map[string][]string{"/api/v1/persons": persons, "/api/v1/calls": calls, "/api/v1/pledges": pledges}
	for list, all := range queries {
		for _, query := range all {
			w.walk(list, query)
		}
	}
	for list, parameters := range parametersOfLists(w.t) {
		for _, name := range parameters {
			isAsked := strings.Contains("&"+strings.Join(queries[list], "&"), "&"+name+"=")
			if !isAsked && !slices.Contains([]string{"first", "last", "after", "before"}, name) {
				w.t.Errorf("no query of this test has the parameter %s of %s", name, list)
			}
		}
	}
}

// walk reads a list from its start and from its end by pages of 40, for both accounts.
func (w *twins) walk(path, query string) {
	for _, tokens := range [][2]string{w.tokens, w.scoped} {
		for _, way := range []struct{ number, cursor, place string }{
			{"first", "after", "endCursor"},
			{"last", "before", "startCursor"},
		} {
			cursor := ""
			for range 12 {
				body := w.askAs(tokens, "GET", path+"?"+way.number+"=40&"+query+cursor, "")
				var page struct{ PageInfo map[string]any }
				if err := json.Unmarshal(body, &page); err != nil || page.PageInfo[way.place] == nil {
					break
				}
				cursor = "&" + way.cursor + "=" + page.PageInfo[way.place].(string)
			}
		}
	}
}
