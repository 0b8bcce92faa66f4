package localcopy

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// scan reads valid JSON from its beginning. Its methods read one value, or return false.
type scan struct {
	data []byte
	at   int // The place of the next byte.
}

// peek returns the first byte of the next token, or 0 at the end.
func (s *scan) peek() byte {
	for s.at < len(s.data) {
		c := s.data[s.at]
		if c > ' ' {
			return c
		}
		s.at++
	}
	return 0
}

// take reads a byte if it comes next.
func (s *scan) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

func (s *scan) isNull() bool { return s.peek() == 'n' }

// name reads the name of a member, and the colon.
func (s *scan) name() ([]byte, bool) {
	name, ok := s.plain()
	return name, ok && s.take(':')
}

// plain reads a text without an escape.
func (s *scan) plain() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	length := bytes.IndexByte(s.data[s.at:], '"')
	if length < 0 {
		return nil, false
	}
	text := s.data[s.at : s.at+length]
	s.at += length + 1
	return text, bytes.IndexByte(text, '\\') < 0
}

// appendText reads a text of valid UTF-8.
func (s *scan) appendText(to []byte) ([]byte, bool) {
	begin := s.at
	text, ok := s.plain()
	if ok {
		return append(to, text...), utf8.Valid(text)
	}
	s.at = begin
	if s.peek() != '"' {
		return to, false
	}
	begin = s.at
	if !s.skip() {
		return to, false
	}
	to, err := jsontext.AppendUnquote(to, s.data[begin:s.at])
	return to, err == nil
}

// skip reads any value.
func (s *scan) skip() bool {
	depth := 0
	for {
		switch s.peek() {
		case 0:
			return false
		case '"':
			if !s.skipText() {
				return false
			}
		case '{', '[':
			s.at++
			depth++
			continue
		case '}', ']':
			s.at++
			depth--
		case ',', ':':
			s.at++
			continue
		default:
			s.skipWord()
		}
		if depth <= 0 {
			return depth == 0
		}
	}
}

// skipText reads a text.
func (s *scan) skipText() bool {
	for s.at++; s.at < len(s.data); s.at++ {
		switch s.data[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return true
		}
	}
	return false
}

// skipWord reads a number, or true, false or null.
func (s *scan) skipWord() []byte {
	begin := s.at
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ',', '}', ']', ' ', '\t', '\r', '\n', ':', '"', '{', '[':
			return s.data[begin:s.at]
		}
		s.at++
	}
	return s.data[begin:s.at]
}

// yesNo reads true as 1 and false as 0.
func (s *scan) yesNo() (int64, bool) {
	s.peek()
	switch string(s.skipWord()) {
	case "true":
		return 1, true
	case "false":
		return 0, true
	default:
		return 0, false
	}
}

// maxDigits keeps numbers far from the limits of an int64.
const maxDigits = 15

// whole reads a number of digits alone.
func (s *scan) whole() (int64, bool) {
	s.peek()
	return digits(s.skipWord())
}

// hundredths reads a number that is not negative and has at most two decimals.
func (s *scan) hundredths() (int64, bool) {
	s.peek()
	before, after, hasPoint := bytes.Cut(s.skipWord(), []byte{'.'})
	n, ok := digits(before)
	if !ok || !hasPoint {
		return 100 * n, ok
	}
	isTenths := len(after) == 1
	part := int64(0)
	for _, c := range after {
		ok = ok && '0' <= c && c <= '9'
		part = 10*part + int64(c-'0')
	}
	if isTenths {
		part *= 10
	}
	return 100*n + part, ok && (isTenths || len(after) == 2)
}

// digits returns a number of digits alone.
func digits(text []byte) (int64, bool) {
	if len(text) == 0 || len(text) > maxDigits {
		return 0, false
	}
	if text[0] == '0' && len(text) > 1 {
		return 0, false
	}
	var n int64
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, true
}

// appendHundredths appends a number of hundredths with two decimals.
func appendHundredths(to []byte, n int64) []byte {
	to = strconv.AppendInt(to, n/100, 10)
	return append(to, '.', byte('0'+n/10%10), byte('0'+n%10))
}

// isUUID reports whether a text is the usual form of a uuid, and not the one of no record.
func isUUID(text []byte) bool {
	if len(text) != 36 {
		return false
	}
	isZero := true
	for i, c := range text {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			isHex := '0' <= c && c <= '9' || 'a' <= c && c <= 'f'
			if !isHex {
				return false
			}
			isZero = isZero && c == '0'
		}
	}
	return !isZero
}

// lastDays are the last days of the months. The 29th of February depends on the year, and is left to the type.
var lastDays = [13]int{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// isDate reports whether a text is a day as the copy stores it.
func isDate(text []byte) bool {
	if !hasForm(text, "0000-00-00") || string(text[:4]) < "1900" {
		return false
	}
	month, day := two(text[5:]), two(text[8:])
	return 1 <= month && month <= 12 && 1 <= day && day <= lastDays[month]
}

// isTime reports whether a text is a time as the copy stores it.
func isTime(text []byte) bool {
	return len(text) == 24 && isDate(text[:10]) && hasForm(text[10:], "T00:00:00.000Z") &&
		two(text[11:]) <= 23 && two(text[14:]) <= 59 && two(text[17:]) <= 59
}

// hasForm reports whether a text has digits for zeros, and is the same otherwise.
func hasForm(text []byte, form string) bool {
	if len(text) != len(form) {
		return false
	}
	for i, c := range text {
		isDigit := form[i] == '0' && '0' <= c && c <= '9'
		if !isDigit && c != form[i] {
			return false
		}
	}
	return true
}

// two returns a number of two digits.
func two(text []byte) int { return int(text[0]-'0')*10 + int(text[1]-'0') }
