package service

import (
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

var (
	testNow   = apitype.NewTime(time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC))
	testLater = apitype.NewTime(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))
)

// callIn returns a call in a state, with what such a call has.
func callIn(status apitype.CallStatus) apitype.Call {
	call := apitype.Call{Status: status, LastUpdatedAt: testNow, Result: apitype.EmbedPointer[apitype.CallResult](nil)}
	if field := statusTime(&call); status != apitype.CallRequested {
		*field = new(testNow)
	}
	return call
}

// TestCallMoveRepeated covers the same move again. Spec gap: C2.
func TestCallMoveRepeated(t *testing.T) {
	t.Parallel()
	number := func(text string) *apitype.Number {
		n, err := apitype.ParseNumber(text)
		if err != nil {
			t.Fatal(err)
		}
		return &n
	}
	recorded := apitype.CallResult{
		ResultCode: new("ok"), CompletedAt: &testNow, Notes: new("said yes"), DonorRetentionRating: number("7.50"),
	}
	tests := []struct {
		name    string
		move    callMove
		changes bool
	}{
		{"nothing sent", callMove{to: apitype.CallCompleted}, false},
		{"an empty result", callMove{to: apitype.CallCompleted, result: &apitype.CallResultRequest{}}, false},
		{"the same values", callMove{to: apitype.CallCompleted, at: &testNow, result: &apitype.CallResultRequest{
			ResultCode: new("ok"), CompletedAt: &testNow, Notes: new("said yes"), DonorRetentionRating: number("7.5"),
		}}, false},
		{
			name:    "another code",
			move:    callMove{to: apitype.CallCompleted, result: &apitype.CallResultRequest{ResultCode: new("no")}},
			changes: true,
		},
		{
			name:    "other notes",
			move:    callMove{to: apitype.CallCompleted, result: &apitype.CallResultRequest{Notes: new("said no")}},
			changes: true,
		},
		{
			name: "another rating",
			move: callMove{
				to:     apitype.CallCompleted,
				result: &apitype.CallResultRequest{DonorRetentionRating: number("7")},
			},
			changes: true,
		},
		{
			name: "another time",
			move: callMove{
				to:     apitype.CallCompleted,
				at:     &testLater,
				result: &apitype.CallResultRequest{CompletedAt: &testLater},
			},
			changes: true,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, external := range []bool{false, true} {
				call := callIn(apitype.CallCompleted)
				call.Result = apitype.Embed(recorded)
				changed, err := moveCall(&call, external, test.move, testLater)
				switch {
				case !test.changes && (changed || err != nil):
					t.Errorf("external %v: got changed %v and %v, want the call as it was", external, changed, err)
				case test.changes && !external && KindOf(err) != Conflict:
					t.Errorf("service-managed: got %v, want a conflict", err)
				case test.changes && external && (!changed || err != nil):
					t.Errorf("external: got changed %v and %v, want a change", changed, err)
				}
			}
		})
	}
}

// TestAttempts walks state × mode × maximum. Spec gaps: C4, C5.
func TestAttempts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		status   apitype.CallStatus
		external bool
		before   int
		maximum  *int
		refused  string // The message.
	}{
		{"requested", apitype.CallRequested, false, 0, nil, ""},
		{"requested below the maximum", apitype.CallRequested, false, 2, new(3), ""},
		{
			name:    "requested at the maximum",
			status:  apitype.CallRequested,
			before:  3,
			maximum: new(3),
			refused: "the call is requested and has reached the maximum of attempts, 3",
		},
		{
			name:    "no attempts at all",
			status:  apitype.CallRequested,
			maximum: new(0),
			refused: "the call is requested and has reached the maximum of attempts, 0",
		},
		{"requested before the last of all", apitype.CallRequested, false, 999, nil, ""},
		{
			name:    "requested after the last of all",
			status:  apitype.CallRequested,
			before:  1000,
			refused: "the call is requested and takes no more attempts than 1000",
		},
		{
			name:    "requested at a maximum that is that of all",
			status:  apitype.CallRequested,
			before:  1000,
			maximum: new(1000),
			refused: "the call is requested and has reached the maximum of attempts, 1000",
		},
		{
			name:    "requested at a maximum of more",
			status:  apitype.CallRequested,
			before:  1000,
			maximum: new(1001),
			refused: "the call is requested and takes no more attempts than 1000",
		},
		{"completed", apitype.CallCompleted, false, 0, nil, "the call is completed and takes no more attempts"},
		{"cancelled", apitype.CallCancelled, false, 0, nil, "the call is cancelled and takes no more attempts"},
		{"expired", apitype.CallExpired, false, 0, nil, "the call is expired and takes no more attempts"},
		{"external and completed", apitype.CallCompleted, true, 0, nil, ""},
		{"external at the maximum", apitype.CallRequested, true, 3, new(3), ""},
		{
			name:     "external after the last of all",
			status:   apitype.CallCompleted,
			external: true,
			before:   1000,
			maximum:  new(3),
			refused:  "the call is completed and takes no more attempts than 1000",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			call := callIn(test.status)
			call.AttemptsCount = test.before
			err := attemptCall(&call, test.external, test.maximum, apitype.AddAttemptRequest{}, testLater)
			if test.refused != "" {
				if KindOf(err) != Conflict || err.Error() != test.refused || call.AttemptsCount != test.before {
					t.Errorf("got %v and %d attempts, want the conflict %q and %d",
						err, call.AttemptsCount, test.refused, test.before)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			attempts := call.Attempts.Value()
			if call.AttemptsCount != test.before+1 ||
				!attempts[len(attempts)-1].AttemptAt.Equal(testLater) ||
				call.Status != test.status {
				t.Errorf("got %d attempts, the last at %v, status %s",
					call.AttemptsCount, attempts[len(attempts)-1].AttemptAt, call.Status)
			}
		})
	}
}

// TestNewExternalCall covers what an external creation leaves open. Spec gap: C9.
func TestNewExternalCall(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		request apitype.CreateCallRequest
		check   func(apitype.Call) bool
	}{
		{
			name:    "no status",
			request: apitype.CreateCallRequest{},
			check:   func(c apitype.Call) bool { return c.Status == apitype.CallRequested },
		},
		{
			name:    "completed without a time",
			request: apitype.CreateCallRequest{Status: new(apitype.CallCompleted)},
			check: func(c apitype.Call) bool {
				return c.CompletedAt.Equal(testNow) && c.Result.Pointer() == nil
			},
		},
		{"completed as its result says", apitype.CreateCallRequest{
			Status: new(apitype.CallCompleted), Result: &apitype.CallResultRequest{CompletedAt: &testLater},
		}, func(c apitype.Call) bool { return c.CompletedAt.Equal(testLater) }},
		{"result without a time", apitype.CreateCallRequest{
			Status: new(apitype.CallCompleted), CompletedAt: &testLater, Result: &apitype.CallResultRequest{},
		}, func(c apitype.Call) bool { return c.Result.Value().CompletedAt.Equal(testLater) }},
		{
			name:    "cancelled",
			request: apitype.CreateCallRequest{Status: new(apitype.CallCancelled), CancelledAt: &testLater},
			check: func(c apitype.Call) bool {
				return c.CancelledAt.Equal(testLater)
			},
		},
		{
			name:    "expired",
			request: apitype.CreateCallRequest{Status: new(apitype.CallExpired)},
			check:   func(c apitype.Call) bool { return c.ExpiredAt == nil },
		},
		{
			name:    "attempts",
			request: apitype.CreateCallRequest{Attempts: []apitype.CallAttemptRequest{{CreatedAt: testLater}}},
			check: func(c apitype.Call) bool {
				return c.AttemptsCount == 1 && c.Attempts.Value()[0].AttemptAt.Equal(testLater)
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.request.ExternalMetadata = &apitype.CallExternalMetadataRequest{}
			call := newCall(apitype.NewUUID(), test.request, testNow)
			if call.Type != apitype.CallVerification || !test.check(call) {
				t.Errorf("got %+v", call)
			}
		})
	}
}
