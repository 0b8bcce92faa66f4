package apiclient_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"testing"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// personality flips what a real service may have decided otherwise than ours.
type personality struct {
	name   string
	answer func(r *http.Request, a *httptest.ResponseRecorder)
}

// editJSON changes a decoded answer.
func editJSON(a *httptest.ResponseRecorder, edit func(any) any) {
	var value any
	dec := json.NewDecoder(a.Body)
	dec.UseNumber()
	if dec.Decode(&value) != nil {
		return
	}
	body, err := json.Marshal(edit(value))
	if err != nil {
		panic(err)
	}
	a.Body = bytes.NewBuffer(body)
}

// each changes every object of a decoded answer, the inner ones first.
func each(value any, edit func(map[string]any)) any {
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			each(inner, edit)
		}
		edit(v)
	case []any:
		for _, inner := range v {
			each(inner, edit)
		}
	}
	return value
}

func forEach(edit func(map[string]any)) func(*http.Request, *httptest.ResponseRecorder) {
	return func(_ *http.Request, a *httptest.ResponseRecorder) {
		editJSON(a, func(value any) any { return each(value, edit) })
	}
}

func refusal(status int, contentType, body string) func(*http.Request, *httptest.ResponseRecorder) {
	return func(_ *http.Request, a *httptest.ResponseRecorder) {
		if a.Code == 400 {
			a.Code, a.Body = status, bytes.NewBufferString(body)
			a.Header().Set("Content-Type", contentType)
		}
	}
}

// personalities lists services with habits that only the client notices. Package servicetest has others.
func personalities() []personality {
	return []personality{
		{name: "unknown enumerated values and fields", answer: forEach(func(o map[string]any) {
			for _, name := range []string{"type", "gender", "donationInterval", "recruitmentType"} {
				if _, text := o[name].(string); text && o["title"] == nil {
					o[name] = "SOMETHING_NEW"
				}
			}
			o["newField"] = map[string]any{"a": 1}
		})},
		{name: "refusals as HTML", answer: refusal(400, "text/html", "<h1>that is wrong</h1>")},
		{
			name:   "refusals as a list",
			answer: refusal(400, "application/json", `[{"field":"email","message":"that is wrong"}]`),
		},
		{name: "no ETag and another type", answer: func(_ *http.Request, a *httptest.ResponseRecorder) {
			a.Header().Del("ETag")
			if a.Header().Get("Content-Type") != "" {
				a.Header().Set("Content-Type", "application/vnd.api+json; charset=utf-8")
			}
		}},
	}
}

// serve answers as the service does under the personality.
func (p personality) serve(h *servicetest.Harness) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Accept-Encoding") // What is compressed is not bent.
		a := httptest.NewRecorder()
		h.Handler.ServeHTTP(a, r)
		p.answer(r, a)
		for name, values := range a.Header() {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(a.Code)
		io.Copy(w, a.Body)
	})
}

// The client works the same, whatever the service decided.
func TestPersonalities(t *testing.T) {
	t.Parallel()
	test := func(name string, drop apitype.PledgeAction, serve func(h *servicetest.Harness) http.Handler) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.h.Sample(10)
			server := httptest.NewServer(serve(s.h))
			t.Cleanup(server.Close)
			client := clientOf(t, s.h, server.URL)
			for noun, counts := range map[string][2]int{
				"persons": {
					countAll(t, s.setup.Persons.All, apitype.PersonListOptions{}),
					countAll(t, client.Persons.All, apitype.PersonListOptions{}),
				},
				"calls": {
					countAll(t, s.setup.Calls.All, apitype.CallListOptions{}),
					countAll(t, client.Calls.All, apitype.CallListOptions{Include: []string{"person", "pledge"}}),
				},
				"pledges": {
					countAll(t, s.setup.Pledges.All, apitype.PledgeListOptions{}),
					countAll(t, client.Pledges.All, apitype.PledgeListOptions{}),
				},
			} {
				if counts[0] != counts[1] || counts[0] == 0 {
					t.Errorf("%s: got %d, want %d", noun, counts[1], counts[0])
				}
			}
			exercise(t, s, client, drop)
		})
	}
	for _, p := range servicetest.Personalities() {
		drop := cmp.Or(p.Actions["drop"], "drop")
		test(p.Name, apitype.PledgeAction(drop), func(h *servicetest.Harness) http.Handler { return h.As(p) })
	}
	for _, p := range personalities() {
		test(p.name, apitype.ActionDrop, p.serve)
	}
}

// countAll walks a list and decodes every record.
func countAll[T, O any](t *testing.T, all func(context.Context, O, apiclient.AllOptions) iterator[T], o O) int {
	t.Helper()
	n := 0
	for record, err := range all(t.Context(), o, apiclient.AllOptions{PageSize: 30}) {
		if _, err := apiclient.Decoded(record, err); err != nil {
			t.Errorf("record %d: %v", n, err)
			return n
		}
		n++
	}
	return n
}

type iterator[T any] = iter.Seq2[apiclient.Record[T], error]

// exercise changes and reads one record of each noun.
func exercise(t *testing.T, s *stage, client *apiclient.Client, drop apitype.PledgeAction) {
	t.Helper()
	ctx := t.Context()
	steps := []struct {
		name string
		run  func() error
	}{
		{"read the call", func() error { _, err := apiclient.Decoded(client.Calls.Get(ctx, s.call)); return err }},
		{"read the pledge", func() error {
			_, err := apiclient.Decoded(client.Pledges.Get(ctx, s.pledge))
			return err
		}},
		{"create a person", func() error {
			_, err := client.Send(ctx, must(apiclient.CreatePersonChange(s.newPerson())))
			return err
		}},
		{"update the person", func() error {
			_, err := client.Send(ctx, must(apiclient.UpdatePersonChange(s.person, apitype.UpdatePersonRequest{
				Email: apitype.Set("a@example.org"),
			})))
			return err
		}},
		{"attempt", func() error {
			_, err := client.Send(ctx,
				must(apiclient.AddAttemptChange(s.call, apitype.AddAttemptRequest{AttemptAt: s.at()})))
			return err
		}},
		{"complete", func() error {
			_, err := client.Send(ctx, must(apiclient.CompleteCallChange(s.call, apitype.CompleteCallRequest{
				Result: &apitype.CallResultRequest{CompletedAt: s.at()},
			})))
			return err
		}},
		{"drop", func() error {
			_, err := client.Send(ctx, apiclient.PledgeActionChange(s.pledge, drop, ""))
			return err
		}},
		{"a refusal", func() error {
			_, err := client.Send(ctx, must(apiclient.UpdatePersonChange(s.person, apitype.UpdatePersonRequest{
				Email: apitype.Set("nonsense"),
			})))
			if kind := apiclient.KindOf(err); kind != apiclient.KindRejected {
				return fmt.Errorf("got kind %q, want rejected: %w", kind, err)
			}
			return nil
		}},
		{"a conflict", func() error {
			_, err := client.Send(ctx,
				must(apiclient.CancelCallChange(s.call, apitype.CancelCallRequest{CancelledAt: s.at()})))
			if kind := apiclient.KindOf(err); kind != apiclient.KindConflict {
				return fmt.Errorf("got kind %q, want a conflict: %w", kind, err)
			}
			return nil
		}},
	}
	for _, step := range steps {
		if err := step.run(); err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
	}
}

// must is a change that can be written.
func must(ch apiclient.Change, err error) apiclient.Change {
	if err != nil {
		panic(err)
	}
	return ch
}

// answered returns the record that a change was answered with.
func answered[T any](answer *apiclient.Response, err error) (T, error) {
	var record T
	if err != nil {
		return record, err
	}
	return record, json.Unmarshal(answer.Body, &record)
}
