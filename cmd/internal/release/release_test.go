package release

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"
)

// TestVersion compares what says the version with the changelog and the description of the
// interface.
func TestVersion(t *testing.T) {
	t.Parallel()
	changelog, err := os.ReadFile("../../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile(`(?m)^## (\S+)`).FindSubmatch(changelog)
	if heading == nil || string(heading[1]) != Version {
		t.Errorf("got %q at the head of the changelog, want %s", heading, Version)
	}
	description, err := os.ReadFile("../../../service/httpapi/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var described struct{ Info struct{ Version string } }
	if err := json.Unmarshal(description, &described); err != nil || described.Info.Version != Version {
		t.Errorf("got %q, %v in openapi.json, want %s", described.Info.Version, err, Version)
	}
}
