package commands

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// editing is a service that loses the answer to a creation, and a back office that edits the new record at once.
type editing struct {
	*servicetest.Harness
	line
	owner string
}

func newEditing(t *testing.T, path, action, edit string) *editing {
	t.Helper()
	h := servicetest.New(t)
	token := h.Token()
	e := &editing{Harness: h, owner: h.Organization("AID").String()}
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != path {
			h.Handler.ServeHTTP(w, r)
			return
		}
		made := httptest.NewRecorder()
		h.Handler.ServeHTTP(made, r)
		if made.Code != http.StatusCreated {
			t.Logf("POST %s: %d %s", path, made.Code, made.Body)
			w.WriteHeader(made.Code)
			return
		}
		if edit != "" {
			id := made.Header().Get("Location")
			if id == "" {
				_, after, _ := strings.Cut(made.Body.String(), `"uuid":"`)
				id = after[:36]
			}
			if got := h.Do(token, http.MethodPut, path+"/"+id+"/actions/"+action, edit); got.Status != http.StatusOK {
				t.Errorf("edit: got %d %s", got.Status, got.Body)
			}
		}
		panic(http.ErrAbortHandler)
	})
	e.line = lineAt(t, address, token)
	return e
}

const editedSince = "created, and edited since\n"

// A creation with a lost answer succeeds although its record was edited. It prints the record with a remark.
func TestCreatedAndEditedSince(t *testing.T) {
	t.Parallel()
	const owners = `"owningOrganizationUuid":"OWNER","recruitingOrganizationUuid":"OWNER"`
	for _, test := range []struct{ name, noun, path, action, edit, body, want string }{
		{
			name:   "a person",
			noun:   "person",
			path:   "/api/v1/persons",
			action: "update",
			edit:   `{"email":"new@example.org"}`,
			body:   `{` + owners + `,"email":"old@example.org"}`,
			want:   "new@example.org",
		},
		{
			name:   "a pledge",
			noun:   "pledge",
			path:   "/api/v1/pledges",
			action: "update",
			edit:   `{"recruitingLocationLabel":"Dam"}`,
			body: `{` + owners + `,"personUuid":"PERSON","initialDonationInterval":"monthly","initialDonationAmount":10,` +
				`"recruiterUserUuid":"OWNER","startsAt":"2026-12-01","createdAt":"2026-11-20T09:00:00Z","recruitingLocationLabel":"Spui"}`,
			want: "Dam",
		},
		{
			name:   "a call",
			noun:   "call",
			path:   "/api/v1/calls",
			action: "complete",
			edit:   `{"result":{"resultCode":"ok"}}`,
			body: `{"personUuid":"PERSON","requestedAt":"2026-11-20T08:00:00Z","status":"requested",` +
				`"externalMetadata":{"applicationName":"dialler","referenceId":"7","statusCode":"S1"}}`,
			want: "completed",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, edit := range []string{test.edit, ""} {
				for _, isQueued := range []bool{false, true} {
					e := newEditing(t, test.path, test.action, edit)
					person := e.Do(e.environment["FUNDESK_TOKEN"], http.MethodPost, "/api/v1/persons",
						`{"owningOrganizationUuid":"`+e.owner+`","recruitingOrganizationUuid":"`+e.owner+
							`"}`).Object()["uuid"].(string)
					e.stdin = strings.NewReplacer("OWNER", e.owner, "PERSON", person).Replace(test.body)
					isEdited := edit != ""
					if isQueued {
						e.try(t, test.noun+" create - --outbox")
						e.now = func() time.Time { return time.Now().Add(time.Hour) } // It may be sent again.
						got := e.try(t, "outbox send -o json").Ends(0).Prints(`"sent":1`)
						servicetest.Same(t, edit+": edited", isEdited, strings.Contains(got.Stderr, editedSince))
						continue
					}
					got := e.try(t, test.noun+" create - -o ndjson").Ends(0)
					servicetest.Same(t, edit+": edited", isEdited, strings.Contains(got.Stderr, editedSince))
					servicetest.Same(t, edit+": lines", 1, strings.Count(got.Stdout, "\n"))
					if isEdited {
						got.Prints(test.want)
					}
				}
			}
		})
	}
}

// An import writes ok for such a record.
func TestImportedAndEditedSince(t *testing.T) {
	t.Parallel()
	e := newEditing(t, "/api/v1/persons", "update", `{"email":"new@example.org"}`)
	file, results := filepath.Join(t.TempDir(), "new.ndjson"), filepath.Join(t.TempDir(), "results")
	row := `{"owningOrganizationUuid":"` + e.owner + `","recruitingOrganizationUuid":"` + e.owner +
		`","email":"old@example.org"}`
	writeFile(t, file, row)
	out, errs, code := e.run(t, "person import", file, "--yes", "--results", results, "-o", "ndjson")
	kept, err := os.ReadFile(results)
	if code != 0 || err != nil || !strings.Contains(out, `"ok":true`) || !strings.Contains(string(kept), `"ok":true`) {
		t.Errorf("got exit code %d, %s, %s and the results %s, %v", code, out, errs, kept, err)
	}
	e.try(t, "person import", file, "--yes", "--results", results).Ends(0, "already done: 1 of 1 line")
}
