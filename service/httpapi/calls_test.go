package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// TestCallLife completes a call, and repeats it. Spec gaps: C2, C8.
func TestCallLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := callPath(w.a.call) + "/actions/"
	w.Clock.Advance(time.Minute)
	attempted := w.Do(w.a.token, "PUT", path+"add-attempt",
		`{"userUuid":"`+user+`","attemptAt":"2026-11-20T10:00:00+01:00"}`).Object()
	wantAttempts := []any{
		map[string]any{
			"userUuid":  user,
			"attemptAt": "2026-11-20T09:00:00.000Z",
			"createdAt": "2026-11-20T09:16:00.000Z",
		},
	}
	diff := cmp.Diff(wantAttempts, attempted["attempts"])
	if diff != "" || attempted["attemptsCount"] != 1.0 || attempted["lastUpdatedAt"] != "2026-11-20T09:16:00.000Z" {
		t.Errorf("attempt: %v %v %s", attempted["attemptsCount"], attempted["lastUpdatedAt"], diff)
	}
	w.Clock.Advance(time.Minute)
	body := `{"userUuid":"` + user + `","result":{"resultCode":"yes","notes":"glad","donorRetentionRating":8.50}}`
	completed := w.Do(w.a.token, "PUT", path+"complete", body)
	call := completed.Object()
	wantResult := map[string]any{
		"resultCode":           "yes",
		"completedAt":          "2026-11-20T09:17:00.000Z",
		"notes":                "glad",
		"donorRetentionRating": 8.5,
	}
	if diff := cmp.Diff(wantResult, call["result"]); diff != "" ||
		call["status"] != "completed" ||
		call["completedAt"] != "2026-11-20T09:17:00.000Z" {
		t.Errorf("completed: %v %v %s", call["status"], call["completedAt"], diff)
	}
	if !strings.Contains(string(completed.Body), `"donorRetentionRating":8.50`) {
		t.Error("the rating lost a digit")
	}
	w.Clock.Advance(time.Minute)
	again := w.Do(w.a.token, "PUT", path+"complete", body)
	if again.Status != 200 || string(again.Body) != string(completed.Body) {
		t.Errorf("got %d %s for the same move again", again.Status, again.Body)
	}
}

// TestCompletedWhenTheResultSays shows that a call is completed at the time in its result, and cancelled when the
// request arrived. Spec gap: S4.
// Promise S4: a completed call is completed when its result says.
func TestCompletedWhenTheResultSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const earlier = "2026-11-20T08:00:00.000Z"
	call := w.Do(
		w.a.token,
		"PUT",
		callPath(w.a.call)+"/actions/complete",
		`{"result":{"resultCode":"yes","completedAt":"`+earlier+`"}}`,
	).Object()
	result, _ := call["result"].(map[string]any)
	if call["completedAt"] != earlier || result["completedAt"] != earlier {
		t.Errorf("got completedAt %v and %v in the result, want %s",
			call["completedAt"], result["completedAt"], earlier)
	}
	created := w.Do(
		w.a.token,
		"POST",
		"/api/v1/calls",
		w.externalCallBody(w.a, `,"status":"completed","result":{"resultCode":"yes","completedAt":"`+earlier+`"}`),
	).Object()
	if created["completedAt"] != earlier {
		t.Errorf("external call: got completedAt %v, want %s", created["completedAt"], earlier)
	}
}

// TestCallingOrganizationOfOthers shows that an organization outside the scope may call: call
// centres call for others. Spec gap: S8.
// Promise S8: any organization may be the calling one.
func TestCallingOrganizationOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer := w.Do(w.a.token, "POST", "/api/v1/calls",
		w.callBody(w.a, `,"callingOrganizationUuid":"`+w.b.organization.String()+`"`))
	if answer.Status != 201 || answer.Object()["callingOrganizationUuid"] != w.b.organization.String() {
		t.Errorf("got %d %s", answer.Status, answer.Body)
	}
}

// TestExternalCall shows what an external call is answered with. Spec gap: C9.
// Promise S5: a later move of an external call replaces the earlier one.
func TestExternalCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer := w.Do(w.a.token, "POST", "/api/v1/calls", w.externalCallBody(w.a,
		`,"status":"completed","completedAt":"2026-11-19T10:00:00Z","attempts":[{"createdAt":"2026-11-19T09:00:00Z"}],"result":{"resultCode":"ok"},"externalSource":{"name":"x","identifier":"y"}`))
	call := answer.Object()
	if answer.Status != 201 ||
		call["type"] != "verification" ||
		call["attemptsCount"] != 1.0 ||
		call["completedAt"] != "2026-11-19T10:00:00.000Z" {
		t.Errorf("got %d %s", answer.Status, answer.Body)
	}
	if !strings.Contains(string(answer.Body), `"additionalProperties":{"b":1.50,"a":2}`) {
		t.Errorf("the properties changed: %s", answer.Body)
	}
	path := "/api/v1/calls/" + call["uuid"].(string) + "/actions/"
	moved := w.Do(w.a.token, "PUT", path+"cancel", `{"cancelledAt":"2026-11-20"}`).Object()
	if moved["status"] != "cancelled" || moved["completedAt"] != nil || moved["result"] != nil {
		t.Errorf("got %v, want a cancelled call without a result", moved)
	}
	for query, want := range map[string]int{
		"externalApplicationName=dialler&externalReferenceId=7": 1,
		"externalApplicationName=null&externalReferenceId=null": 2,
		"externalStatusCode=S1":                                 1,
		"externalStatusCode=s1":                                 0,
	} {
		if got := page(t, w.get("/api/v1/calls?"+query)); len(got.Edges) != want {
			t.Errorf("%s: got %d calls, want %d", query, len(got.Edges), want)
		}
	}
}

func TestConcurrentMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 10 {
		id := w.create("/api/v1/calls", w.callBody(w.a))
		actions := []string{"complete", "cancel", "expire"}
		statuses := parallel(3, func(i int) int {
			return w.Do(w.all, "PUT", callPath(id)+"/actions/"+actions[i], "").Status
		})
		if statuses[200] != 1 || statuses[409] != 2 {
			t.Errorf("got %v, want one move", statuses)
		}
	}
}

// TestTransactionsAreAnArray shows that a call without a pledge that the account sees has
// an empty array of transactions.
func TestTransactionsAreAnArray(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mixed := w.a // A pledge of B for a person of A, and a call about it.
	mixed.organization, mixed.focusArea = w.b.organization, w.b.focusArea
	mixed.pledge = w.create("/api/v1/pledges", w.pledgeBody(mixed))
	calls := map[string]apitype.UUID{
		"no pledge":        w.create("/api/v1/calls", w.externalCallBody(w.a)),
		"invisible pledge": w.create("/api/v1/calls", w.callBody(mixed)),
		"own pledge":       w.a.call,
	}
	nodes := map[string]map[string]any{}
	for _, edge := range page(t, w.Do(w.a.token, "GET", "/api/v1/calls?include=transactions", "")).Edges {
		nodes[edge.Node["uuid"].(string)] = edge.Node
	}
	for name, id := range calls {
		want := 0
		if id == w.a.call {
			want = 1
		}
		one := w.Do(w.a.token, "GET", callPath(id), "").Object()
		for _, call := range []map[string]any{one, nodes[id.String()]} {
			if transactions, ok := call["transactions"].([]any); !ok || len(transactions) != want {
				t.Errorf("%s: got %v, want an array of %d", name, call["transactions"], want)
			}
		}
	}
}

// TestTransactionsNewestFirst shows the order of what is embedded. Spec gap: S18.
// Promise S18: transactions are embedded newest first.
func TestTransactionsNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := []string{"", w.a.transaction.String(), ""} // Made at the start of the clock.
	for i, at := range map[int]time.Duration{0: time.Hour, 2: -time.Hour} {
		loaded := servicetest.NewTransaction(w.a.pledge, w.a.person, apitype.NewTime(servicetest.Start.Add(at)))
		want[i] = loaded.UUID.String()
		w.LoadAll(loaded)
	}
	listed := page(t, w.Do(w.a.token, "GET", "/api/v1/calls?include=transactions", "")).Edges[0].Node
	for path, record := range map[string]map[string]any{
		"a pledge": w.Do(w.a.token, "GET", pledgePath(w.a.pledge), "").Object(),
		"a call":   w.Do(w.a.token, "GET", callPath(w.a.call), "").Object(),
		"a list":   listed,
	} {
		var got []string
		all, _ := record["transactions"].([]any)
		for _, one := range all {
			got = append(got, one.(map[string]any)["uuid"].(string))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("transactions of %s: %s", path, diff)
		}
	}
}

// TestEmbedded compares which objects come with which answer. Spec gaps: L10, L14.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	embedded := []string{
		"externalMetadata", "attempts", "result", "pledgeCase", "person", "transactions", "calls",
		"recruiterUser", "focusAreas", "externalSource", "owningOrganization", "qualityResult",
		"address", "mandate",
	}
	names := func(value any) (found []string) {
		object, _ := value.(map[string]any)
		for _, name := range embedded {
			if _, there := object[name]; there {
				found = append(found, name)
			}
		}
		return found
	}
	node := func(path string) map[string]any {
		for _, edge := range page(t, w.get(path)).Edges {
			return edge.Node
		}
		t.Fatalf("%s: no record", path)
		return nil
	}
	list := []string{"externalMetadata", "attempts", "result"}
	inList := []string{"externalMetadata", "recruiterUser", "focusAreas", "externalSource", "owningOrganization"}
	person := []string{"owningOrganization", "address", "mandate"}
	whole := []string{
		"externalMetadata", "person", "transactions", "calls", "recruiterUser", "focusAreas",
		"externalSource", "owningOrganization",
	}
	call := w.get(callPath(w.a.call)).Object()
	pledge := w.get(pledgePath(w.a.pledge)).Object()
	everything := node("/api/v1/calls?include=personQualityResult,pledge,transactions")
	tests := []struct {
		name      string
		got, want []string
	}{
		{"call list", names(node("/api/v1/calls")), list},
		{"call list with recruiterFullName", names(node("/api/v1/calls?include=recruiterFullName")), list},
		{"call list with person", names(node("/api/v1/calls?include=person")["person"]), person},
		{
			name: "call list with quality",
			got:  names(everything["person"]),
			want: []string{"owningOrganization", "qualityResult", "address", "mandate"},
		},
		{"call list with pledge", names(node("/api/v1/calls?include=pledge")["pledgeCase"]), inList},
		{
			name: "call list with transactions",
			got:  names(node("/api/v1/calls?include=transactions")),
			want: append(slices.Clone(list), "transactions"),
		},
		{
			name: "pledge of a call list with transactions",
			got:  names(everything["pledgeCase"]),
			want: []string{
				"externalMetadata", "transactions", "recruiterUser", "focusAreas",
				"externalSource", "owningOrganization",
			},
		},
		{
			name: "call",
			got:  names(call),
			want: []string{"externalMetadata", "attempts", "result", "pledgeCase", "person", "transactions"},
		},
		{"pledge of a call", names(call["pledgeCase"]), whole},
		{"call of a pledge of a call", names(call["pledgeCase"].(map[string]any)["calls"].([]any)[0]), list},
		{"pledge", names(pledge), whole},
		{"pledge list", names(node("/api/v1/pledges")), inList},
		{
			name: "pledge list with transactions",
			got:  names(node("/api/v1/pledges?include=transactions")),
			want: []string{
				"externalMetadata", "transactions", "recruiterUser", "focusAreas",
				"externalSource", "owningOrganization",
			},
		},
		{"person list", names(node("/api/v1/persons")), person},
	}
	for _, test := range tests {
		servicetest.Same(t, test.name, test.want, test.got)
	}
	for query, want := range map[string]int{"withPaymentQr=true": 2, "withPaymentQr=false": 0} {
		if got := page(t, w.get("/api/v1/pledges?"+query)); len(got.Edges) != want {
			t.Errorf("%s: got %d pledges, want %d", query, len(got.Edges), want)
		}
	}
}

// TestKeptJSON shows that a record of the longest values is kept whole.
func TestKeptJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	notes := strings.Repeat("é\n\"<&\u2028", 20000/6)
	text, err := json.Marshal(notes)
	servicetest.Check(t, err)
	got := w.Do(w.all, "POST", "/api/v1/calls", w.callBody(w.a, `,"notes":`+string(text)))
	if got.Status != 201 || got.Object()["notes"] != notes {
		t.Errorf("got %d, and the notes differ", got.Status)
	}
}

// TestPersonLife creates, updates and clears a person.
// Promise S7: an update that changes nothing keeps revision and updatedAt.
// Promise S17: a mandate without anything in it changes nothing.
func TestPersonLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	created := w.Do(w.a.token, "POST", "/api/v1/persons", w.personBody(w.a,
		`,"uuid":"A9D0C6E2-3B5D-4C0C-9B1A-6C1F2D3E4F50","iban":"nl91 abna 0417 1643 00","dateOfBirth":"1980-05-17T23:30:00-05:00","socialSecurityNumber":"123456782","language":"NL","gender":"female",`+
			`"phoneNumber":"+31201234567","email":"ada@example.org","address":{"street":"Kade","houseNumber":"1","zipCode":"1011AB","city":"Delft","country":"nl"},`+
			`"optIns":{"email":true,"sms":false},"mandate":{"id":"M-1"}`))
	if created.Status != 201 {
		t.Fatalf("got %d %s", created.Status, created.Body)
	}
	id := "a9d0c6e2-3b5d-4c0c-9b1a-6c1f2d3e4f50"
	want := map[string]any{
		"uuid":                 id,
		"personUuid":           id,
		"academicTitle":        nil,
		"initials":             nil,
		"firstName":            "Ada",
		"lastNamePrefix":       nil,
		"lastName":             "Jansen",
		"dateOfBirth":          "1980-05-17",
		"socialSecurityNumber": "123456782",
		"iban":                 "NL91ABNA0417164300",
		"phoneNumber":          "+31201234567",
		"mobilePhoneNumber":    nil,
		"email":                "ada@example.org",
		"gender":               "female",
		"optInEmail":           true,
		"optInPhone":           nil,
		"optInMail":            nil,
		"optInSms":             false,
		"language":             "nl",
		"createdAt":            "2026-11-20T09:15:00.000Z",
		"address": map[string]any{
			"street":               "Kade",
			"houseNumber":          "1",
			"houseNumberExtension": nil,
			"zipCode":              "1011AB",
			"city":                 "Delft",
			"country":              "NL",
		},
		"mandate":            map[string]any{"createdAt": "2026-11-20T09:15:00.000Z"},
		"owningOrganization": map[string]any{"uuid": w.a.organization.String(), "name": "A", "abbreviation": "A"},
		"qualityResult":      nil,
	}
	path := "/api/v1/persons/" + id
	servicetest.Same(t, "created", want, created.Object())
	if got := w.Do(w.a.token, "GET", path, ""); string(got.Body) != string(created.Body) {
		t.Errorf("got %s, want what was created", got.Body)
	}
	w.Clock.Advance(time.Hour)
	updated := w.Do(w.a.token, "PUT", path+"/actions/update",
		`{"iban":null,"name":{"initials":"A."},"address":{"houseNumberExtension":"bis"},"optIns":null,"mandate":null,"language":"de"}`)
	want["iban"], want["initials"], want["language"], want["mandate"] = nil, "A.", "de", nil
	want["optInEmail"], want["optInSms"] = nil, nil
	want["address"].(map[string]any)["houseNumberExtension"] = "bis"
	if diff := cmp.Diff(want, updated.Object()); diff != "" || updated.Header.Get("Etag") != `"2"` {
		t.Errorf("updated, tag %s: %s", updated.Header.Get("Etag"), diff)
	}
	if again := w.Do(w.a.token, "PUT", path+"/actions/update", `{"language":"de"}`); again.Header.Get("Etag") != `"2"` {
		t.Errorf("got tag %s for an update that changes nothing, want 2", again.Header.Get("Etag"))
	}
	// Objects without anything in them change nothing; at creation a mandate is dated then.
	again := w.Do(w.a.token, "PUT", path+"/actions/update", `{"optIns":{},"mandate":{},"address":{}}`)
	if again.Header.Get("Etag") != `"2"` || again.Object()["mandate"] != nil {
		t.Errorf("got tag %s and mandate %v for empty objects, want 2 and none",
			again.Header.Get("Etag"), again.Object()["mandate"])
	}
	dated := w.Do(w.a.token, "POST", "/api/v1/persons", w.personBody(w.a, `,"mandate":{}`)).Object()
	servicetest.Same(t, "mandate of a creation", map[string]any{"createdAt": "2026-11-20T10:15:00.000Z"},
		dated["mandate"])
	node := page(t, w.Do(w.a.token, "GET", "/api/v1/persons?iban=x&first=1", ""))
	if len(node.Edges) != 0 {
		t.Errorf("got %d persons of an unknown IBAN", len(node.Edges))
	}
}

func TestConcurrentUpdates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fields := []string{
		`"academicTitle":"dr."`, `"email":"a@example.org"`, `"language":"nl"`, `"gender":"other"`,
		`"phoneNumber":"+31201234567"`,
	}
	parallel(len(fields), func(i int) int {
		return w.Do(w.all, "PUT", personPath(w.a.person)+"/actions/update", "{"+fields[i]+"}").Status
	})
	body := string(w.get(personPath(w.a.person)).Body)
	for _, field := range fields {
		if !strings.Contains(body, field) {
			t.Errorf("%s was lost: %s", field, body)
		}
	}
}

// TestMarkProcessed covers good and failing entries together. Spec gaps: R1, E1, E2.
func TestMarkProcessed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/api/v1/entity-access/actions/mark-processed"
	good := fmt.Sprintf(`{"entityName":"transaction","entityUuid":%q,"processedAt":"2026-11-20","externalSourceName":"crm","consumerIdentifier":%q}`, w.a.transaction, user)
	if got := w.Do(w.a.token, "POST", path, `{"entries":[`+good+`,`+good+`]}`); got.Status != 204 ||
		len(got.Body) != 0 {
		t.Errorf("got %d %s, want 204", got.Status, got.Body)
	}
	bad := fmt.Sprintf(`{"entries":[%s,{"entityName":"donor","entityUuid":"1","processedAt":"x","consumerIdentifier":"z"},{"entityName":"call","entityUuid":%q,"processedAt":"2026-11-20","externalSourceName":"other"},{}]}`, good, w.a.call)
	got := w.Do(w.a.token, "POST", path, bad)
	var body apitype.ProcessedErrors
	got.Decode(&body)
	want := apitype.ProcessedErrors{Errors: []apitype.ProcessedError{
		{EntityName: "donor", EntityUUID: "1", ConsumerIdentifier: new("z")},
		{EntityName: "call", EntityUUID: w.a.call.String()},
		{},
	}}
	for i := range body.Errors {
		if body.Errors[i].ErrorMessage == "" {
			t.Errorf("entry %d has no message", i)
		}
		body.Errors[i].ErrorMessage = ""
	}
	diff := cmp.Diff(want, body)
	if diff != "" || got.Status != 400 || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("got %d %s", got.Status, diff)
	}
}
