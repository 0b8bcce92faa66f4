package floorfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"fundesk/apiclient/apitype"
)

// revisionMark begins the line of a TOML file that names the settings it was made from.
const revisionMark = "# revision"

// RevisionLine returns the line that a TOML file begins with, so that [IsStale] finds changes since.
func RevisionLine(of apitype.OrganizationSettings) string {
	return revisionMark + " " + Revision(of) + "\n"
}

// revisionSize is the length of a digest, in bytes.
const revisionSize = 8

// Revision returns a digest of settings. It is the member [apitype.RevisionMember] of a JSON file.
func Revision(of apitype.OrganizationSettings) string {
	text, _ := json.Marshal(of) // The type has no value that fails.
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:revisionSize])
}

// IsStale reports whether a file with this revision was made from other settings than those of now. A file without a
// revision is never stale.
func IsStale(revision string, now apitype.OrganizationSettings) bool {
	return revision != "" && revision != Revision(now)
}

// revisionOfTOML returns the revision that a TOML file names, or an empty text. A comment of several words is no
// revision.
func revisionOfTOML(text []byte) (string, error) {
	for line := range bytes.Lines(text) {
		rest, isMark := strings.CutPrefix(strings.TrimSpace(string(line)), revisionMark)
		if !isMark || strings.Contains(strings.TrimSpace(rest), " ") {
			continue
		}
		return checkRevision(strings.TrimSpace(rest))
	}
	return "", nil
}

// checkRevision refuses a revision that [Revision] does not return: the file could replace newer settings.
func checkRevision(revision string) (string, error) {
	digest, err := hex.DecodeString(revision)
	if err != nil || len(digest) != revisionSize {
		const problem = "get never prints the revision %q; a file without a revision replaces what is there"
		return "", Problems{fmt.Sprintf(problem, revision)}
	}
	return revision, nil
}
