package apiclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// The settings are read once, checked by their ETag, and written only if they have not changed.
func TestSettings(t *testing.T) {
	t.Parallel()
	organization := apitype.NewUUID()
	etag, sent := `"1"`, ""
	client := queueOf(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Fundesk-Extensions", "settings")
		w.Header().Set("ETag", etag)
		switch {
		case r.Method == http.MethodPut && r.URL.Path == "/fundesk/v1/settings/"+organization.String():
			if r.Header.Get("If-Match") != etag {
				w.WriteHeader(http.StatusPreconditionFailed)
				fmt.Fprint(w, `{"title":"changed meanwhile"}`)
				return
			}
			body, _ := io.ReadAll(r.Body)
			sent, etag = string(body), `"2"`
			fmt.Fprint(w, sent)
		case r.URL.Path == "/fundesk/v1/settings" && r.Header.Get("If-None-Match") == etag:
			w.WriteHeader(http.StatusNotModified)
		case r.URL.Path == "/fundesk/v1/settings":
			fmt.Fprintf(w, `{"organizations":[{"uuid":%q,"results":{"winback":[{"code":"back","label":"","effect":null,"asksNotes":false}]}}],"users":[]}`, organization)
		default:
			fmt.Fprint(w, `{"extensions":["settings"]}`)
		}
	})
	read, isSame, err := client.Settings(t.Context(), "")
	settings, wrong := read.Decode()
	if err != nil || wrong != nil || isSame || read.ETag != `"1"` ||
		settings.Organizations[0].Results["winback"][0].Code != "back" {
		t.Fatalf("got %+v %t %v %v, want the settings and their ETag", read, isSame, err, wrong)
	}
	if _, isSame, err := client.Settings(t.Context(), read.ETag); err != nil || !isSame {
		t.Errorf("got %t %v, want that they still hold", isSame, err)
	}
	if err := client.SetSettings(t.Context(), settings.Organizations[0], read.ETag); err != nil || sent == "" {
		t.Errorf("got %q %v, want them written", sent, err)
	}
	err = client.SetSettings(t.Context(), settings.Organizations[0], read.ETag)
	if failure, ok := errors.AsType[*apiclient.Error](err); !ok || failure.Kind != apiclient.KindConflict {
		t.Errorf("got %v, want a conflict with what was written meanwhile", err)
	}
}

// A service without settings differs from one that does not answer.
func TestNoSettings(t *testing.T) {
	t.Parallel()
	client := queueOf(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	_, _, err := client.Settings(t.Context(), "")
	failure, ok := errors.AsType[*apiclient.Error](err)
	if !ok || failure.Kind != apiclient.KindRejected || failure.Message != "the service has no settings" {
		t.Errorf("got %v, want that there are none", err)
	}
}

// Settings with a lost answer are reported as set if the service has them, although the repeat is refused for the
// revision that the first request changed. Otherwise the outcome is unknown, or a refusal.
func TestLostSettings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name         string
		applies, cut bool
		status       int // Of what is not cut.
		kind         apiclient.Kind
	}{
		{"applied, and the answer cut", true, true, 0, ""},
		{"applied, and answered with 500", true, false, 500, ""},
		{"applied, and answered with 408", true, false, 408, ""},
		{"applied, and answered with half of them", true, false, 200, ""},
		{"answered with half of them, and not applied", false, false, 200, apiclient.KindUnknownOutcome},
		{"applied, and interrupted", true, false, 0, apiclient.KindInterrupted},
		{"not applied, and the answer cut", false, true, 0, apiclient.KindUnknownOutcome},
		{"changed by another", false, false, 412, apiclient.KindConflict},
		{"refused", false, false, 403, apiclient.KindForbidden},
	} {
		organization := apitype.NewUUID()
		var mu sync.Mutex // Each connection asks by itself.
		is, etag := `{"uuid":"`+organization.String()+`"}`, `"1"`
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		client := queueOf(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			mu.Lock()
			shown, revision := is, etag
			isMet := r.Header.Get("If-Match") == etag
			if r.Method == http.MethodPut && isMet && test.applies {
				is, etag = string(body), `"2"`
			}
			mu.Unlock()
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Fundesk-Extensions", "settings")
			w.Header().Set("ETag", revision)
			if r.URL.Path == "/fundesk/v1" {
				fmt.Fprint(w, `{"extensions":["settings"]}`)
				return
			}
			if r.Method != http.MethodPut {
				fmt.Fprintf(w, `{"organizations":[%s],"users":[]}`, shown)
				return
			}
			if !isMet {
				w.WriteHeader(http.StatusPreconditionFailed)
				return
			}
			if test.cut {
				panic(http.ErrAbortHandler)
			}
			if test.status == 0 {
				cancel()
				<-r.Context().Done()
				return
			}
			w.WriteHeader(test.status)
			fmt.Fprint(w, `{"uuid":`)
		})
		choice := map[apitype.CallType][]apitype.ResultChoice{apitype.CallWinback: {{Code: "back"}}}
		err := client.SetSettings(ctx, apitype.OrganizationSettings{UUID: organization, Results: choice}, `"1"`)
		if apiclient.KindOf(err) != test.kind || (err == nil) != (test.kind == "") {
			t.Errorf("%s: got %v of kind %q, want %q", test.name, err, apiclient.KindOf(err), test.kind)
		}
	}
}
