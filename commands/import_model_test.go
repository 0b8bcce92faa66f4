package commands

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

var (
	importSeeds = flag.Uint64("import-seeds", 200, "seeds of TestImportsBesideEdits; by night 5000")
	importRows  = flag.Int("import-rows", 4, "rows of each file of TestImportsBesideEdits; by night 12")
	importFrom  = flag.Uint64("import-from", 0, "first seed of TestImportsBesideEdits")
)

// Requests of an import get lost or refused, and another writer edits the new persons. Still each row makes one person,
// an edit stays, and the repeated import ends well.
func TestImportsBesideEdits(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	for seed := *importFrom; seed < *importFrom+*importSeeds; seed++ {
		if err := importBesideEdits(t, seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func importBesideEdits(t *testing.T, seed uint64) error {
	t.Helper()
	h := servicetest.New(t)
	h.Handler = httpapi.New(httpapi.Options{Service: h.Service, Now: h.Clock.Now})
	owner, token := h.Organization("A"), h.Token()
	line := &importLine{h: h, token: token, random: rand.New(rand.NewPCG(seed, 3)), edited: map[string]string{}}
	address := serving(t, line.ServeHTTP)
	home := t.TempDir()
	rows := *importRows
	var file strings.Builder
	for i := range rows {
		fmt.Fprintf(&file, `{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"name":{"lastName":"Row%d"}}`+
			"\n", owner, owner, i)
	}
	path := filepath.Join(home, "rows.ndjson")
	writeFile(t, path, file.String())
	environment := homeAt(t, address, token, "HOME", home)
	args := []string{
		"person", "import", path, "--results", filepath.Join(home, "results"), "--yes", "--retry",
		"1", "-q",
	}
	code := -1
	var errs bytes.Buffer
	for try := 0; code != 0 && try < 30; try++ {
		line.isMended = try > 20
		errs.Reset()
		app := appOf(environment, strings.NewReader(""), io.Discard, &errs)
		app.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
		code = Run(t.Context(), args, app)
	}
	if code != 0 {
		return fmt.Errorf("the import never ends well: exit code %d, %s", code, errs.String())
	}
	return line.compare(rows)
}

// importLine is a service behind a connection that loses requests and answers, with a writer who edits new persons.
type importLine struct {
	h        *servicetest.Harness
	token    string
	isMended bool

	mu     sync.Mutex
	random *rand.Rand
	edited map[string]string // The e-mail address that the other writer gave, by UUID.
}

func (l *importLine) chance(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isMended {
		return n - 1
	}
	return l.random.IntN(n)
}

// ServeHTTP implements http.Handler.
func (l *importLine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && l.chance(5) == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if r.Method != http.MethodPost {
		l.h.Handler.ServeHTTP(w, r)
		return
	}
	fault := l.chance(6)
	if fault == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if fault == 1 {
		l.cut(w)
		return
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	l.h.Handler.ServeHTTP(answer, r)
	id, err := apitype.RecordUUID(answer.Body.Bytes())
	if err == nil && answer.Code == http.StatusCreated && l.chance(3) == 0 {
		l.edit(id.String())
	}
	switch fault {
	case 2:
		l.cut(w)
	case 3:
		w.WriteHeader(http.StatusBadGateway)
	default:
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}
}

// cut ends the connection without an answer.
func (l *importLine) cut(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = connection.Close()
	}
}

// edit gives a new person an e-mail address, as the back office does.
func (l *importLine) edit(id string) {
	email := fmt.Sprintf("office%d@example.org", l.chance(1000))
	answer := l.h.Do(l.token, http.MethodPut, "/api/v1/persons/"+id+"/actions/update",
		`{"email":"`+email+`","name":{"firstName":"Edited"}}`)
	if answer.Status == http.StatusOK {
		l.mu.Lock()
		l.edited[id] = email
		l.mu.Unlock()
	}
}

// compare reports a row without exactly one person, and an edit that was lost.
func (l *importLine) compare(rows int) error {
	var page apitype.Page[apitype.Person]
	l.h.Do(l.token, http.MethodGet, "/api/v1/persons?first=500", "").Decode(&page)
	persons := map[string]int{}
	var wrong []error
	for _, edge := range page.Edges {
		person := edge.Node
		persons[*person.LastName]++
		email, isEdited := l.edited[person.UUID.String()]
		if isEdited && (person.Email == nil || *person.Email != email) {
			wrong = append(wrong, fmt.Errorf("the edit of %s is lost", *person.LastName))
		}
	}
	for i := range rows {
		if n := persons[fmt.Sprintf("Row%d", i)]; n != 1 {
			wrong = append(wrong, fmt.Errorf("row %d made %d persons", i, n))
		}
	}
	return errors.Join(wrong...)
}
