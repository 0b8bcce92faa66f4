package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// The tables below are the rules of the interface and the decisions, written apart from the service's own: a line for
// each state, a column for each move. "moves" ends in the move's state, "same" is a repeat without effect, "adds"
// records an attempt, and "409" means that the state refuses the move. Spec gaps: C1, C2, C4, G1.
const (
	managedCalls = `
		          complete cancel expire add-attempt
		requested moves    moves  moves  adds
		completed same     409    409    409
		cancelled 409      same   409    409
		expired   409      409    same   409`
	externalCalls = `
		          complete cancel expire add-attempt
		requested moves    moves  moves  adds
		completed same     moves  moves  adds
		cancelled moves    same   moves  adds
		expired   moves    moves  same   adds`
	// By state, whether it is released, and whether its end has come.
	managedPledges = `
		                       activate drop  cancel fulfill
		lead/cooling/open      409      moves 409    409
		lead/cooling/ended     409      moves 409    409
		lead/released/open     moves    409   moves  409
		lead/released/ended    moves    409   moves  409
		active/released/open   same     409   moves  409
		active/released/ended  same     409   moves  moves
		dropped/cooling/open   409      same  409    409
		dropped/cooling/ended  409      same  409    409
		cancelled/released/open  409    409   same   409
		cancelled/released/ended 409    409   same   409
		fulfilled/released/open  409    409   409    same
		fulfilled/released/ended 409    409   409    same`
	externalPledges = `
		                       activate drop  cancel fulfill
		lead/cooling/open      moves    moves moves  moves
		active/released/open   same     moves moves  moves
		dropped/cooling/open   moves    same  moves  moves
		cancelled/released/ended moves  moves same   moves
		fulfilled/released/ended moves  moves moves  same`
)

// transition is one field of a table.
type transition struct{ state, move, outcome string }

func transitions(table string) []transition {
	lines := strings.Split(strings.TrimSpace(table), "\n")
	moves := strings.Fields(lines[0])
	var all []transition
	for _, line := range lines[1:] {
		fields := strings.Fields(line)
		for i, outcome := range fields[1:] {
			all = append(all, transition{fields[0], moves[i], outcome})
		}
	}
	return all
}

// target is the state that a move ends in.
var target = map[string]string{
	"complete": "completed", "cancel": "cancelled", "expire": "expired",
	"activate": "active", "drop": "dropped", "fulfill": "fulfilled",
}

// TestTransitions walks state × move × mode × permission over the whole service.
func TestTransitions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	permissions := map[string]service.Permission{
		"complete":    service.CallsComplete,
		"cancel":      service.CallsCancel,
		"expire":      service.CallsExpire,
		"add-attempt": service.CallsAttempt,
		"pledge":      service.PledgesAct,
	}
	tokens := map[string]string{}
	for move, permission := range permissions {
		tokens[move] = w.Token(servicetest.MayNot(permission))
	}
	for _, mode := range []struct {
		name  string
		table string
		path  string
		load  func(w *world, state string) apitype.UUID
	}{
		{
			name:  "service-managed call",
			table: managedCalls,
			path:  "/api/v1/calls/",
			load:  func(w *world, state string) apitype.UUID { return w.callIn(state, false) },
		},
		{
			name:  "external call",
			table: externalCalls,
			path:  "/api/v1/calls/",
			load:  func(w *world, state string) apitype.UUID { return w.callIn(state, true) },
		},
		{
			name:  "service-managed pledge",
			table: managedPledges,
			path:  "/api/v1/pledges/",
			load:  func(w *world, state string) apitype.UUID { return w.pledgeIn(state, false) },
		},
		{
			name:  "external pledge",
			table: externalPledges,
			path:  "/api/v1/pledges/",
			load:  func(w *world, state string) apitype.UUID { return w.pledgeIn(state, true) },
		},
	} {
		for _, tr := range transitions(mode.table) {
			t.Run(fmt.Sprint(mode.name, " ", tr.state, " ", tr.move), func(t *testing.T) {
				path := mode.path + mode.load(w, tr.state).String()
				without := tokens[tr.move]
				if strings.HasSuffix(mode.name, "pledge") {
					without = tokens["pledge"]
				}
				before := w.get(path)
				w.Want(http.StatusForbidden, without, "PUT", path+"/actions/"+tr.move, "")
				w.Clock.Advance(time.Second)
				got := w.Do(w.all, "PUT", path+"/actions/"+tr.move, "")
				after := w.get(path)
				tr.check(t, before, got, after)
			})
		}
	}
}

// check compares a move with the table.
func (tr transition) check(t *testing.T, before, got, after servicetest.Answer) {
	t.Helper()
	state, _, _ := strings.Cut(tr.state, "/")
	status, changed := http.StatusOK, true
	attempts, counted := before.Object()["attemptsCount"].(float64)
	switch tr.outcome {
	case "moves":
		state = target[tr.move]
	case "same":
		changed = false
	case "409":
		status, changed = http.StatusConflict, false
	case "adds":
		attempts++
	}
	if got.Status != status {
		t.Fatalf("got %d %s, want %d", got.Status, got.Body, status)
	}
	record := after.Object()
	if record["status"] != state || (counted && record["attemptsCount"] != attempts) {
		t.Errorf("got %v with %v attempts, want %s with %v", record["status"], record["attemptsCount"], state, attempts)
	}
	if (before.Header.Get("ETag") != after.Header.Get("ETag")) != changed {
		t.Errorf("got revision %s after %s, want a change: %v",
			after.Header.Get("ETag"), before.Header.Get("ETag"), changed)
	}
	problem := got.Object()
	if status == http.StatusConflict && !strings.Contains(fmt.Sprint(problem["detail"]), state) {
		t.Errorf("got the detail %q, want the status %s named", problem["detail"], state)
	}
}

// callIn loads a call in a state.
func (w *world) callIn(state string, external bool) apitype.UUID {
	at := apitype.NewTime(servicetest.Start.Add(-time.Hour))
	c := servicetest.NewCall(w.a.person, at)
	c.Status = apitype.CallStatus(state)
	switch state {
	case "completed":
		c.CompletedAt = &at
	case "cancelled":
		c.CancelledAt = &at
	case "expired":
		c.ExpiredAt = &at
	}
	if external {
		c.ExternalMetadata = apitype.Embed(apitype.CallExternalMetadata{ApplicationName: new("dialler")})
	}
	w.LoadAll(c)
	return c.UUID
}

// pledgeIn loads a pledge in a state, released or not, ended or not.
func (w *world) pledgeIn(state string, external bool) apitype.UUID {
	parts := strings.Split(state, "/")
	p := servicetest.NewPledge(w.a.person, w.a.organization, apitype.NewTime(servicetest.Start.Add(-time.Hour)))
	p.Status = apitype.PledgeStatus(parts[0])
	released, ends := p.CreatedAt, p.CreatedAt
	if parts[1] == "cooling" {
		released = apitype.NewTime(servicetest.Start.AddDate(1, 0, 0))
	}
	if parts[2] == "open" {
		ends = apitype.NewTime(servicetest.Start.AddDate(1, 0, 0))
	}
	p.ReleasedAt, p.EndsAt = apitype.Embed(released), &ends
	if external {
		p.ExternalSource = apitype.Embed(apitype.ExternalSource{Name: "x", Identifier: "y"})
	}
	w.LoadAll(p)
	return p.UUID
}
