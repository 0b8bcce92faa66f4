package bulk

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// high1252 are the characters of Windows-1252 from 0x80 to 0x9f; the others are those of
// Latin-1. Zero: there is none.
var high1252 = [...]rune{
	'€', 0, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0, 'Ž', 0,
	0, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0, 'ž', 'Ÿ',
}

// notUTF8 names the first line that is not UTF-8.
func notUTF8(data []byte) error {
	line := 1
	for text := range bytes.Lines(data) {
		if !utf8.Valid(text) {
			break
		}
		line++
	}
	return &Fault{
		Message: "line " + strconv.Itoa(line) + " must be valid UTF-8",
		Hint:    "--encoding cp1252 reads what Excel saves on Windows; there are " + strings.Join(Encodings, ", "),
	}
}

// decodeText is a text as UTF-8. Nothing is guessed but what a byte order mark says: a wrong
// guess replaces letters of names in silence.
func decodeText(data []byte, encoding string) ([]byte, error) {
	little, big := bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff})
	switch name := strings.ToLower(encoding); {
	case name == "utf-16" || name == "" && (little || big):
		return decodeUTF16(data, big)
	case name == "cp1252", name == "windows-1252", name == "latin1", name == "iso-8859-1":
		return decodeBytes(data, name[0] == 'c' || name[0] == 'w')
	case name == "" || name == "utf-8" || name == "utf8":
		if !utf8.Valid(data) {
			return nil, notUTF8(data)
		}
		return WithoutMark(data), nil
	default:
		return nil, &Fault{Message: "--encoding is not one of " + strings.Join(Encodings, ", ")}
	}
}

// decodeUTF16 reads UTF-16; without a mark it is little-endian, as Windows writes it.
func decodeUTF16(data []byte, big bool) ([]byte, error) {
	order := binary.ByteOrder(binary.LittleEndian)
	if big {
		order = binary.BigEndian
	}
	if len(data)%2 != 0 {
		return nil, &Fault{Message: "the file is not valid UTF-16"}
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	runes := utf16.Decode(units)
	if slices.Contains(runes, utf8.RuneError) {
		return nil, &Fault{Message: "the file is not valid UTF-16"}
	}
	return WithoutMark([]byte(string(runes))), nil
}

// decodeBytes reads an encoding of one byte a character.
func decodeBytes(data []byte, windows bool) ([]byte, error) {
	text := make([]byte, 0, len(data)+len(data)/8)
	for _, b := range data {
		r := rune(b)
		if windows && b >= 0x80 && b <= 0x9f {
			if r = high1252[b-0x80]; r == 0 {
				return nil, &Fault{Message: "the file is not valid cp1252"}
			}
		}
		text = utf8.AppendRune(text, r)
	}
	return text, nil
}
