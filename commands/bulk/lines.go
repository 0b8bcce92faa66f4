package bulk

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"fundesk/apiclient/apitype"
)

// MaxLine is the longest line of bulk input, in bytes.
const MaxLine = 16 << 20

// byteOrderMark begins files of Windows programs.
var byteOrderMark = []byte("\ufeff")

// WithoutMark returns a text without its byte order mark.
func WithoutMark(text []byte) []byte { return bytes.TrimPrefix(text, byteOrderMark) }

// EachLine calls each for each line that is not blank, with its number, until it returns false. It returns the reason
// if no further line can be read.
func EachLine(in io.Reader, each func(number int, line []byte) bool) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), MaxLine)
	for number := 1; lines.Scan(); number++ {
		if line := WithoutMark(lines.Bytes()); len(bytes.TrimSpace(line)) > 0 && !each(number, line) {
			return nil
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return errors.New("a line is longer than 16 MiB")
	}
	return lines.Err()
}

// ReadTargets reads one identifier a line from stdin: bare, as a JSON string, or as a JSON
// object with a uuid.
func ReadTargets(stdin io.Reader) ([]apitype.UUID, error) {
	var wrong *Fault
	var ids []apitype.UUID
	err := EachLine(stdin, func(number int, line []byte) bool {
		id, err := target(bytes.TrimSpace(line))
		if err != nil && wrong == nil {
			wrong = &Fault{
				Message: "stdin line " + strconv.Itoa(number) + " " + err.Error(),
				Hint:    "-o id prints UUIDs only, one per line; records come as -o ndjson",
			}
		}
		ids = append(ids, id)
		return true
	})
	if wrong != nil {
		return nil, wrong
	}
	if err != nil {
		return nil, &Fault{Message: "read stdin: " + err.Error()}
	}
	return ids, nil
}

var errJSON = errors.New("must be JSON")

func target(line []byte) (apitype.UUID, error) {
	text := string(line)
	switch line[0] {
	case '{':
		if !json.Valid(line) {
			return apitype.UUID{}, errJSON
		}
		return apitype.RecordUUID(line)
	case '"':
		if json.Unmarshal(line, &text) != nil {
			return apitype.UUID{}, errJSON
		}
	}
	return apitype.ParseUUID(strings.TrimSpace(text))
}

// Distinct returns every identifier once, in the order of the first. A record that is named twice, for example in a
// merged list, must not get two attempts.
func Distinct(ids []apitype.UUID) []apitype.UUID {
	seen := make(map[apitype.UUID]bool, len(ids))
	return slices.DeleteFunc(slices.Clone(ids), func(id apitype.UUID) bool {
		again := seen[id]
		seen[id] = true
		return again
	})
}
