package release

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"
)

// TestVersion compares the version with the changelog, the operator's page and the description of
// the interface.
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
	operator, err := os.ReadFile("../../../docs/operator.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, named := range regexp.MustCompile(`fundeskd?_(\d[^_]*)_`).FindAllSubmatch(operator, -1) {
		if string(named[1]) != Version {
			t.Errorf("got the package %s on the operator's page, want the version %s", named[0], Version)
		}
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
