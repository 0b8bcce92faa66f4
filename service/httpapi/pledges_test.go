package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// TestPledgeLife drops and releases. Which moves there are is TestTransitions. Spec gaps: G1, G2.
// Promise S3: the cooling-off begins when the service creates the pledge.
func TestPledgeLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	act := func(id apitype.UUID, action string) servicetest.Answer {
		return w.Do(w.a.token, "PUT", pledgePath(id)+"/actions/"+action, "")
	}
	dropped := w.create("/api/v1/pledges", w.pledgeBody(w.a))
	ended := w.create("/api/v1/pledges", w.pledgeBody(w.a, `,"endsAt":"2026-12-24"`))
	if got := act(dropped, "drop").Object(); got["status"] != "dropped" {
		t.Errorf("got %v", got["status"])
	}
	releasedAfter := "/api/v1/pledges?releasedAfter=2026-11-20T09:15:00Z"
	if got := page(t, w.Do(w.a.token, "GET", releasedAfter, "")); len(got.Edges) != 0 {
		t.Errorf("got %d released pledges before the time", len(got.Edges))
	}
	w.Clock.Advance(service.DefaultCoolingOff - time.Millisecond)
	if got := act(ended, "activate"); got.Status != 409 {
		t.Errorf("got %d a millisecond before the release, want 409", got.Status)
	}
	w.Clock.Advance(time.Millisecond)
	released := page(t, w.Do(w.a.token, "GET", releasedAfter, ""))
	if len(released.Edges) != 2 ||
		released.Edges[0].Node["releasedAt"] != "2026-12-04T09:15:00.000Z" ||
		released.Edges[0].Node["updatedAt"] != "2026-11-20T09:15:00.000Z" {
		t.Errorf("got %d released pledges, the first %v, want 2", len(released.Edges), released.Edges)
	}
	if got := act(ended, "activate"); got.Status != 200 {
		t.Errorf("got %d at the release, want 200", got.Status)
	}
	if got := w.Do(w.a.token, "GET", pledgePath(dropped), "").Object(); got["releasedAt"] != nil {
		t.Errorf("got releasedAt %v of a dropped pledge", got["releasedAt"])
	}
}

// TestExternalRelease shows that an external pledge's release is as supplied, also in
// the future. Spec gap: G2.
func TestExternalRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.create("/api/v1/pledges",
		w.pledgeBody(w.a, `,"externalSource":{"name":"x","identifier":"y"},"releasedAt":"2027-01-01"`))
	found := page(t, w.Do(w.a.token, "GET", "/api/v1/pledges?releasedAfter=2026-12-31", ""))
	if len(found.Edges) != 1 ||
		found.Edges[0].Node["uuid"] != id.String() ||
		found.Edges[0].Node["releasedAt"] != "2027-01-01T00:00:00.000Z" {
		t.Errorf("got %v", found.Edges)
	}
}

// TestPledgeUpdate covers what may be changed in which mode. Spec gaps: G5, G8.
func TestPledgeUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	external := w.create(
		"/api/v1/pledges",
		w.pledgeBody(
			w.a,
			`,"externalSource":{"name":"x","identifier":"y"},"status":"active","donationAmount":1e2,"releasedAt":"2026-11-01","endsAt":"2026-01-01"`,
		),
	)
	update := func(id apitype.UUID, body string) servicetest.Answer {
		return w.Do(w.a.token, "PUT", pledgePath(id)+"/actions/update", body)
	}
	_, places := problemOf(t, update(external, `{"donationInterval":"once","donationAmount":1,"endsAt":null}`))
	servicetest.Same(t, "places", []string{"/donationInterval", "/donationAmount", "/endsAt"}, places)
	got := update(external, `{"recruitingLocationLabel":"Markt","externalMetadata":{"z":1.0,"a":[]}}`)
	if got.Status != 200 ||
		!strings.Contains(string(got.Body), `"externalMetadata":{"z":1.0,"a":[]}`) ||
		got.Object()["donationAmount"] != 100.0 {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	w.Clock.Advance(time.Minute)
	got = update(w.a.pledge, `{"donationAmount":12.500,"donationInterval":"yearly","endsAt":"2027-01-01"}`)
	pledge := got.Object()
	if pledge["donationAmount"] != 12.5 ||
		pledge["initialDonationInterval"] != "monthly" ||
		pledge["donationInterval"] != "yearly" ||
		pledge["updatedAt"] != "2026-11-20T09:16:00.000Z" {
		t.Errorf("got %s", got.Body)
	}
	_, places = problemOf(t, update(w.a.pledge, `{"startsAt":"2027-01-02"}`))
	servicetest.Same(t, "places", []string{"/endsAt"}, places)
}

// TestLoadedLeadIsReleased loads a lead without a release. It is released its creation and the cooling-off later, like
// a created one. Spec gap: S12.
// Promise S12: a loaded lead gets its release from its creation and the cooling-off.
func TestLoadedLeadIsReleased(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lead := servicetest.NewPledge(w.a.person, w.a.organization, apitype.NewTime(servicetest.Start.Add(-time.Hour)))
	lead.Status = apitype.PledgeLead
	w.LoadAll(lead)
	releasedAt := func() any {
		return w.Do(w.a.token, "GET", pledgePath(lead.UUID), "").Object()["releasedAt"]
	}
	if got := releasedAt(); got != nil {
		t.Errorf("got %v while it cools off, want null", got)
	}
	w.Clock.Advance(14 * 24 * time.Hour)
	if got, want := releasedAt(), "2026-12-04T08:15:00.000Z"; got != want {
		t.Errorf("got %v after 14 days, want %s", got, want)
	}
}

// TestSignature follows a link to a signature file, and tries to bend it. Spec gap: G10.
// Promise S19: signature files that are not pictures are sent as downloads.
// Promise S19: no signature file acts as a page of the service.
func TestSignature(t *testing.T) {
	t.Parallel()
	w := newWorld(t, servicetest.WithBaseURL("https://donors.example.org/"))
	// signedWith loads a pledge with a signature file, and is the path of its link.
	signedWith := func(file string) (pledge apitype.UUID, path string) {
		t.Helper()
		signed := servicetest.NewPledge(w.a.person, w.a.organization, apitype.NewTime(servicetest.Start))
		signed.Status, signed.Signature = apitype.PledgeLead, []byte(file)
		w.LoadAll(signed)
		link, _ := w.Do(w.a.token, "GET", pledgePath(signed.UUID), "").Object()["signatureSignedUrl"].(string)
		path, ours := strings.CutPrefix(link, "https://donors.example.org")
		if !ours {
			t.Fatalf("got link %q", link)
		}
		return signed.UUID, path
	}
	const image, page = "\x89PNG\r\n\x1a\n0000", "<html><script>alert(1)</script></html>"
	for _, file := range []struct{ content, kind, disposition string }{
		{image, "image/png", ""},
		{page, "application/octet-stream", "attachment"}, // No file acts as a page of the service.
	} {
		_, path := signedWith(file.content)
		got := w.Do("", "GET", path, "")
		if got.Status != 200 || string(got.Body) != file.content || got.Header.Get("Content-Type") != file.kind ||
			got.Header.Get("Content-Disposition") != file.disposition ||
			got.Header.Get("Content-Security-Policy") != "default-src 'none'; sandbox" {
			t.Errorf("%s: got %d %v", file.kind, got.Status, got.Header)
		}
	}
	pledge, path := signedWith(image)
	for name, bent := range map[string]string{
		"another pledge": strings.Replace(path, pledge.String(), w.a.pledge.String(), 1),
		"a later end":    strings.Replace(path, "expires=1", "expires=2", 1),
		"no signature":   path[:strings.Index(path, "&")],
		"no parameters":  path[:strings.Index(path, "?")],
	} {
		if got := w.Do("", "GET", bent, ""); got.Status != 404 {
			t.Errorf("%s: got %d, want 404", name, got.Status)
		}
	}
	for after, want := range []int{200, 404} {
		w.Clock.Advance([]time.Duration{time.Hour, time.Second}[after])
		if got := w.Do("", "GET", path, ""); got.Status != want {
			t.Errorf("the hour and %d s later: got %d, want %d", after, got.Status, want)
		}
	}
}
