package floorfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"fundesk/apiclient/apitype"
)

// revisionMark begins the line of a file that names the settings it was made from.
const revisionMark = "# revision "

// RevisionLine returns the line that a file begins with, so that [IsStale] finds changes since.
func RevisionLine(of apitype.OrganizationSettings) string {
	return revisionMark + revisionOf(of) + "\n"
}

// revisionOf returns a digest of settings.
func revisionOf(of apitype.OrganizationSettings) string {
	text, _ := json.Marshal(of) // The type has no value that fails.
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// IsStale reports whether a file was made from other settings than those of now. A file without a revision is never
// stale.
func IsStale(file []byte, now apitype.OrganizationSettings) bool {
	for line := range strings.Lines(string(file)) {
		revision, isMark := strings.CutPrefix(strings.TrimSpace(line), strings.TrimSpace(revisionMark))
		if isMark {
			revision = strings.TrimSpace(revision)
			return revision != "" && revision != revisionOf(now)
		}
	}
	return false
}
