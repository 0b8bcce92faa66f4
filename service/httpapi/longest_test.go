package httpapi_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"fundesk/service"
	"fundesk/service/servicetest"
)

// The longest texts that the interface allows are stored and found again, also where an index
// holds several of them: none is too long for a database.
func TestLongestTextsAreFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	random := rand.New(rand.NewPCG(1, 1))
	longest := func() string { // Of four bytes a character, which no compression makes shorter.
		var b strings.Builder
		for range 1000 {
			b.WriteRune(rune(0x20000 + random.IntN(0xA000)))
		}
		return b.String()
	}
	application, reference, code := longest(), longest(), longest()
	call := fmt.Sprintf(`{"personUuid":%q,"requestedAt":"2026-11-20T08:00:00Z","externalMetadata":{"applicationName":%q,"referenceId":%q,"statusCode":%q}}`,
		w.a.person, application, reference, code)
	for range 2 {
		if answer := w.Do(w.all, http.MethodPost, "/api/v1/calls", call); answer.Status != http.StatusCreated {
			t.Fatalf("got %d %.300s, want it created", answer.Status, answer.Body)
		}
	}
	for _, query := range []url.Values{
		{"externalStatusCode": {code}},
		{"externalApplicationName": {application}, "externalReferenceId": {reference}},
		{"externalApplicationName": {application}, "externalReferenceId": {reference}, "externalStatusCode": {code}},
	} {
		answer := w.Do(w.all, http.MethodGet, "/api/v1/calls?"+query.Encode(), "")
		if n := strings.Count(string(answer.Body), `"cursor"`); answer.Status != http.StatusOK || n != 2 {
			t.Errorf("got %d with %d calls: %.300s, want both", answer.Status, n, answer.Body)
		}
	}
	other := url.Values{"externalStatusCode": {code[:len(code)-4] + "x"}}
	if answer := w.Do(w.all, http.MethodGet, "/api/v1/calls?"+other.Encode(), ""); strings.Contains(string(answer.Body), `"cursor"`) {
		t.Errorf("got %.300s, want no call of a code that begins alike", answer.Body)
	}
	source := string([]rune(application)[:200])
	marks := w.Token(servicetest.May(service.EntitiesMark), servicetest.Sources(source))
	mark := fmt.Sprintf(`{"entries":[{"entityName":"call","entityUuid":%q,"processedAt":"2026-11-20T08:00:00Z","externalSourceName":%q}]}`, w.a.call, source)
	if answer := w.Do(marks, http.MethodPost, "/api/v1/entity-access/actions/mark-processed", mark); answer.Status >= 300 {
		t.Errorf("mark: got %d %.300s", answer.Status, answer.Body)
	}
}
