package floor

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/statefile"
)

// resultsOf returns the codes of a type of call, and the place from which on they are guessed.
func resultsOf(c *Codes, kind apitype.CallType) ([]string, int) {
	rows, guessed := c.Of(&apitype.Call{Type: kind})
	var codes []string
	for _, row := range rows {
		codes = append(codes, row.Code)
	}
	return codes, guessed
}

// The results of a type come from the profile, or from calls that had them.
func TestCodes(t *testing.T) {
	t.Parallel()
	rows := map[apitype.CallType][]apitype.ResultChoice{
		apitype.CallHappy: {{Code: "r", Label: "glad"}, {Code: "o", Effect: new(apitype.EffectOptOut)}},
	}
	c, err := OpenCodes(nil, rows, nil, "")
	if err != nil || c.AreKnown() {
		t.Fatalf("got %v, known %t, want the results of one type known", err, c.AreKnown())
	}
	for code, want := range map[string]string{"r": "glad", "o": "o (opt-out)", "not_there": "not there"} {
		if got := c.Words(apitype.CallHappy, code); got != want {
			t.Errorf("%s: got %q, want %q", code, got, want)
		}
	}
	for _, seen := range []struct {
		kind  apitype.CallType
		code  string
		isNew bool
	}{
		{apitype.CallHappy, "x", false},
		{apitype.CallWinback, "", false},
		{apitype.CallWinback, "b", true},
		{apitype.CallWinback, "b", false},
		{apitype.CallWinback, "a", true},
	} {
		c.isNew = false
		if c.See(seen.kind, seen.code); c.isNew != seen.isNew {
			t.Errorf("%s %q: got new %t, want %t", seen.kind, seen.code, c.isNew, seen.isNew)
		}
	}
	if got, guessed := resultsOf(c, apitype.CallWinback); guessed != 0 || !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q, guessed from %d, want those that were seen, sorted", got, guessed)
	}
	if got, guessed := resultsOf(c, apitype.CallHappy); guessed != 2 || !slices.Equal(got, []string{"r", "o"}) {
		t.Errorf("got %q, guessed from %d, want those of the profile alone", got, guessed)
	}
	path := t.TempDir() + "/state/codes.json"
	all, _ := OpenCodes(nil, nil, []string{"z", "y"}, path)
	if got, _ := resultsOf(all, apitype.CallWinback); !slices.Equal(got, []string{"z", "y"}) || !all.AreKnown() {
		t.Errorf("got %q, want those of every type", got)
	}
	// What another program has put there in between stays.
	kept := &Codes{path: path}
	kept.See(apitype.CallWinback, "k")
	ours := &Codes{path: path}
	ours.See(apitype.CallWinback, "b")
	ours.See(apitype.CallWinback, "k")
	if err := errors.Join(saveCodes(path, kept.seen), saveCodes(path, ours.seen)); err != nil {
		t.Fatal(err)
	}
	again, err := OpenCodes(nil, nil, nil, path)
	if got, _ := resultsOf(again, apitype.CallWinback); err != nil || !slices.Equal(got, []string{"b", "k"}) {
		t.Errorf("got %q %v, want both kept", got, err)
	}
	if err := statefile.Write(path, 7); err != nil {
		t.Fatal(err)
	}
	broken, err := OpenCodes(nil, nil, nil, path)
	if err == nil || !strings.HasPrefix(err.Error(), "read the results of earlier calls: ") {
		t.Errorf("got %v, want that it cannot be read", err)
	}
	broken.See(apitype.CallWinback, "b")
	if err := saveCodes(path, broken.seen); err != nil {
		t.Errorf("got %v, want it written over", err)
	}
	if err := saveCodes(path+"/x", nil); err == nil ||
		!strings.HasPrefix(err.Error(), "keep the results of earlier calls: ") {
		t.Errorf("got %v, want that it cannot be kept", err)
	}
}
