package bulk

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Encodings are the names of encodings that can be read.
var Encodings = []string{"utf-8", "utf-16", "cp1252", "latin1"}

// high1252 are the characters of Windows-1252 from 0x80 to 0x9f; the others are those of
// Latin-1. Zero: there is none.
var high1252 = [...]rune{
	'€', 0, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0, 'Ž', 0,
	0, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0, 'ž', 'Ÿ',
}

// errCharacter is a character that the encoding does not have.
var errCharacter = errors.New("not a character of the encoding")

// textReader reads a text of any encoding as UTF-8, without the mark that it may begin with.
type textReader struct {
	in       *bufio.Reader
	next     func(*bufio.Reader) (rune, error)
	encoding string
	line     int
	out      []byte // Decoded, and not taken yet.
	err      error  // Why there is no more.
}

// newTextReader finds the decoder. Nothing is guessed but what a byte order mark says: a
// wrong guess replaces letters of names in silence.
func newTextReader(in io.Reader, encoding string) (*textReader, error) {
	t := &textReader{in: bufio.NewReaderSize(in, 64<<10), encoding: strings.ToLower(encoding), line: 1}
	mark, _ := t.in.Peek(3) // What is shorter has none.
	little, big := bytes.HasPrefix(mark, []byte{0xff, 0xfe}), bytes.HasPrefix(mark, []byte{0xfe, 0xff})
	switch name := t.encoding; {
	case name == "utf-16" || name == "" && (little || big):
		t.encoding, t.next = "utf-16", littleUTF16 // Without a mark as Windows writes it.
		if big {
			t.next = bigUTF16
		}
		if little || big {
			_, _ = t.in.Discard(2) // It was peeked.
		}
	case name == "cp1252", name == "windows-1252":
		t.encoding, t.next = "cp1252", readCP1252
	case name == "latin1", name == "iso-8859-1":
		t.next = readLatin1
	case name == "" || name == "utf-8" || name == "utf8":
		t.encoding, t.next = "utf-8", readUTF8
		if bytes.Equal(mark, byteOrderMark) {
			_, _ = t.in.Discard(len(mark)) // It was peeked.
		}
	default:
		return nil, &Fault{Message: "--encoding is not one of " + strings.Join(Encodings, ", ")}
	}
	return t, nil
}

// Read gives what was decoded. Its error names the line that cannot be.
func (t *textReader) Read(to []byte) (int, error) {
	if len(t.out) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		t.out = t.out[:0]
		t.decode(len(to))
	}
	n := copy(to, t.out)
	t.out = t.out[n:]
	return n, nil
}

// decode decodes about as many bytes as are wanted, until the next one would have to be
// waited for.
func (t *textReader) decode(wanted int) {
	var text []byte
	for len(text) < wanted && t.err == nil && (len(text) == 0 || t.in.Buffered() > 0) {
		r, err := t.next(t.in)
		switch {
		case errors.Is(err, errCharacter), errors.Is(err, io.ErrUnexpectedEOF):
			t.err = t.fault()
		case err != nil:
			t.err = err
		default:
			text = utf8.AppendRune(text, r)
			if r == '\n' {
				t.line++
			}
		}
	}
	t.out = text
}

// fault is the first line that is not of the encoding.
func (t *textReader) fault() error {
	at := "line " + strconv.Itoa(t.line)
	if t.encoding != "utf-8" {
		return &Fault{Message: at + " is not valid " + t.encoding}
	}
	return &Fault{
		Message: at + " must be valid UTF-8",
		Hint:    "--encoding cp1252 reads what Excel saves on Windows; there are " + strings.Join(Encodings, ", "),
	}
}

func readUTF8(in *bufio.Reader) (rune, error) {
	r, size, err := in.ReadRune()
	if err == nil && r == utf8.RuneError && size == 1 {
		err = errCharacter
	}
	return r, err
}

func readLatin1(in *bufio.Reader) (rune, error) {
	b, err := in.ReadByte()
	return rune(b), err
}

func readCP1252(in *bufio.Reader) (rune, error) {
	r, err := readLatin1(in)
	if err == nil && r >= 0x80 && r <= 0x9f {
		if r = high1252[r-0x80]; r == 0 {
			err = errCharacter
		}
	}
	return r, err
}

func littleUTF16(in *bufio.Reader) (rune, error) { return readUTF16(in, 1, 0) }

func bigUTF16(in *bufio.Reader) (rune, error) { return readUTF16(in, 0, 1) }

// readUTF16 reads one character, of which high is the place of the first byte of a unit.
func readUTF16(in *bufio.Reader, high, low int) (rune, error) {
	unit := func() (rune, error) {
		var pair [2]byte
		_, err := io.ReadFull(in, pair[:])
		return rune(pair[high])<<8 | rune(pair[low]), err
	}
	r, err := unit()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	second, err := unit()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if r = utf16.DecodeRune(r, second); err == nil && r == utf8.RuneError {
		err = errCharacter
	}
	return r, err
}
