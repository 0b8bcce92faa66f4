package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shellBlock is a block of the README that can be run as it stands.
var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

func TestEveryCommandOfTheReadmeRuns(t *testing.T) {
	t.Parallel()
	need(t, "bash", "jq")
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t)
	first := func(list string) string { return h.must(t, "fundesk --profile demo -q "+list+" --limit 1 -o id") }
	h.env = append(
		h.env,
		"FUNDESK_PROFILE=demo",
		"PERSON="+first("person list"),
		"CALL="+first("call list --status requested"),
		"PLEDGE="+first("pledge list --status active"),
		"ORGANIZATION="+strings.Trim(h.must(t, "fundesk --profile demo -q person list --limit 1 --jq '.[0].owningOrganization.uuid'"), `"`),
	)
	h.must(t, `printf '{"personUuid":"%s","requestedAt":"2026-11-20","type":"happy_call"}\n' $PERSON > new-calls.ndjson`)
	blocks := shellBlock.FindAllSubmatch(readme, -1)
	if len(blocks) < 5 {
		t.Fatalf("got %d blocks of commands in the README, want at least 5", len(blocks))
	}
	for _, block := range blocks {
		h.must(t, "set -euo pipefail\n"+string(block[1]))
	}
}
