package bulk

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Encodings are the names of encodings that can be read.
var Encodings = []string{"utf-8", "utf-16", "utf-16be", "cp1252", "latin1", "iso-8859-15"}

// decoder reads a text of an encoding as UTF-8, and refuses bytes outside the encoding.
type decoder struct {
	transform.Transformer
	encoding string
	line     int
}

// encodingOf returns the usual name of an encoding, and how it is read and written: nil for UTF-8.
func encodingOf(name string) (usual string, of encoding.Encoding, isKnown bool) {
	switch strings.ToLower(name) {
	case "", "utf-8", "utf8":
		return "utf-8", nil, true
	case "utf-16", "utf-16le": // Without a mark as Windows writes it.
		return "utf-16", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), true
	case "utf-16be":
		return "utf-16be", unicode.UTF16(unicode.BigEndian, unicode.UseBOM), true
	case "iso-8859-15", "latin9":
		return "iso-8859-15", charmap.ISO8859_15, true
	case "cp1252", "windows-1252":
		return "cp1252", charmap.Windows1252, true
	case "latin1", "iso-8859-1":
		return "latin1", charmap.ISO8859_1, true
	default:
		return "", nil, false
	}
}

// newTextReader returns the decoder, and the form of the text. It guesses nothing except by a byte order mark, because
// a wrong guess replaces letters of names in silence.
func newTextReader(in io.Reader, name string) (io.Reader, Form, error) {
	text := bufio.NewReaderSize(in, 64<<10)
	mark, _ := text.Peek(len(byteOrderMark)) // What is shorter has none.
	marked := bytes.HasPrefix(mark, []byte{0xff, 0xfe}) || bytes.HasPrefix(mark, []byte{0xfe, 0xff})
	if !marked && isOtherUTF16(text, strings.ToLower(name)) {
		return nil, Form{}, &Fault{
			Message: "the file is UTF-16 without a mark",
			Hint:    "--encoding " + looksLikeUTF16(text) + " reads it",
		}
	}
	if marked && name == "" {
		name = "utf-16"
	}
	usual, of, isKnown := encodingOf(name)
	if !isKnown {
		return nil, Form{}, &Fault{Message: "--encoding must be one of " + strings.Join(Encodings, ", ")}
	}
	d := &decoder{line: 1, encoding: usual, Transformer: encoding.UTF8Validator}
	form := Form{encoding: of}
	if of != nil {
		d.Transformer = of.NewDecoder()
	} else if bytes.Equal(mark, byteOrderMark) {
		form.isMarked = true
		_, _ = text.Discard(len(mark)) // It was peeked.
	}
	return transform.NewReader(text, d), form, nil
}

// Form is how a file of CSV is written. The zero value is UTF-8 with commas.
type Form struct {
	delimiter rune
	encoding  encoding.Encoding // Nil for UTF-8.
	isMarked  bool              // UTF-8 with a byte order mark, as Excel wants it.
}

// write writes a text in the encoding of the form. A sign replaces a character that the encoding does not have.
func (f Form) write(out io.Writer, do func(io.Writer) error) error {
	if f.isMarked {
		if _, err := out.Write(byteOrderMark); err != nil {
			return err
		}
	}
	if f.encoding == nil {
		return do(out)
	}
	encoded := transform.NewWriter(out, encoding.ReplaceUnsupported(f.encoding.NewEncoder()))
	if err := do(encoded); err != nil {
		return err
	}
	return encoded.Close()
}

// isOtherUTF16 reports whether a text looks like UTF-16, and the stated encoding is another one.
func isOtherUTF16(text *bufio.Reader, stated string) bool {
	found := looksLikeUTF16(text)
	return found != "" && found != stated && !(found == "utf-16" && stated == "utf-16le")
}

// looksLikeUTF16 returns the encoding of a text of which every second byte is zero at its beginning, or an empty text.
func looksLikeUTF16(text *bufio.Reader) string {
	const pairs = 4
	begin, _ := text.Peek(2 * pairs) // What is shorter is not a file of rows.
	if len(begin) < 2*pairs {
		return ""
	}
	var zeros [2]int
	for i, b := range begin {
		if b == 0 {
			zeros[i%2]++
		}
	}
	switch zeros {
	case [2]int{pairs, 0}:
		return "utf-16be"
	case [2]int{0, pairs}:
		return "utf-16"
	default:
		return ""
	}
}

// Transform returns the decoded text. Its error names the line that cannot be decoded.
func (d *decoder) Transform(to, from []byte, atEnd bool) (decoded, taken int, err error) {
	decoded, taken, err = d.Transformer.Transform(to, from, atEnd)
	bad := -1
	if d.encoding != "utf-8" { // Other encodings write this mark for a character that they do not have.
		bad = bytes.IndexRune(to[:decoded], utf8.RuneError)
	}
	if bad >= 0 {
		decoded = bad
	}
	d.line += bytes.Count(to[:decoded], []byte("\n"))
	if bad >= 0 || errors.Is(err, encoding.ErrInvalidUTF8) {
		err = d.fault()
	}
	return decoded, taken, err
}

func (d *decoder) fault() error {
	at := "line " + strconv.Itoa(d.line)
	if d.encoding != "utf-8" {
		return &Fault{Message: at + " is not valid " + d.encoding}
	}
	return &Fault{
		Message: at + " must be valid UTF-8",
		Hint:    "--encoding cp1252 reads what Excel saves on Windows; there are " + strings.Join(Encodings, ", "),
	}
}
