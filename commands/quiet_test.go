package commands

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A pull that follows ends as systemd wants it if that stops it, and else as shells count signals.
func TestFollowIsTerminated(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		invocation string
		cause      error
		want       int
	}{
		{"", nil, 130},
		{"", ErrTerminated, 143},
		{"7d0f7c1e", ErrTerminated, 0},
		{"7d0f7c1e", nil, 130},
	} {
		ctx, stop := context.WithCancelCause(t.Context())
		page := onePage(0, `{"hasNextPage":false,"endCursor":"a"}`)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(page))
		}))
		environment := homeAt(t, server.URL, "token", "INVOCATION_ID", test.invocation)
		var out, errs bytes.Buffer
		app := appOf(environment, strings.NewReader(""), stopAt{&out, func() { stop(test.cause) }}, &errs)
		code := Run(ctx, []string{"pull", "call", "--follow"}, hasty(app))
		server.Close()
		if code != test.want || strings.Count(out.String(), "\n") != 2 {
			t.Errorf("%v: got exit code %d, %q and %q, want %d and two lines",
				test, code, out.String(), errs.String(), test.want)
		}
	}
}

// stopAt calls stop after the first write.
type stopAt struct {
	*bytes.Buffer
	stop func()
}

func (w stopAt) Write(data []byte) (int, error) {
	defer w.stop()
	return w.Buffer.Write(data)
}

// A quiet list that ends at its own --limit says nothing; any other short one does.
func TestQuietLimits(t *testing.T) {
	t.Parallel()
	answer := status(200, "application/json", onePage(0, `{"hasNextPage":true,"endCursor":"a"}`))
	for line, isTold := range map[string]bool{
		"call list --limit 2 -q -o id": false, "call list --limit 2 -o id": true,
	} {
		_, errs, code := against(t, answer, line)
		if code != 0 || (errs != "") != isTold {
			t.Errorf("%s: got exit code %d and %q, want a note: %v", line, code, errs, isTold)
		}
	}
}

// A user without a home folder works with the environment alone.
func TestEnvironmentIsEnough(t *testing.T) {
	t.Parallel()
	address := serving(t, status(200, "application/json", onePage(0, `{"hasNextPage":false,"endCursor":"a"}`)))
	for _, token := range []string{"token", ""} {
		environment := map[string]string{"FUNDESK_BASE_URL": address, "FUNDESK_TOKEN": token}
		var out, errs bytes.Buffer
		app := appOf(environment, strings.NewReader(""), &out, &errs)
		app.HomeDir = func() (string, error) { return "", nil }
		code := Run(t.Context(), []string{"call", "list", "-o", "id"}, hasty(app))
		if isEnough := token != ""; isEnough != (code == 0) {
			t.Errorf("with the token %q: got exit code %d and %q", token, code, errs.String())
		}
	}
}
