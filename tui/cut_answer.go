package tui

import (
	"bytes"
	"time"
)

// How long the rest of a control sequence may follow a lone esc. The library joins earlier input; later input is typed.
const (
	answerJoined = 45 * time.Millisecond
	answerEnds   = 500 * time.Millisecond
)

// cutAnswer drops the rest of an answer of the terminal, or of another control sequence, after a lone esc. Otherwise an
// answer that the network cut would act as keys. The esc itself has acted as a key already.
type cutAnswer struct {
	escAt  time.Time // When an esc came alone.
	inside byte      // The part of a sequence that is dropped: [, ] or t for the text after ]. Zero means none.
	until  time.Time // Until then the rest of it is dropped.
}

// take returns the rest of bytes that were read at a time.
func (c *cutAnswer) take(b []byte, now time.Time) []byte {
	if len(b) == 0 {
		return b
	}
	switch gap := now.Sub(c.escAt); {
	case c.inside != 0:
		b = c.goOn(b, now)
	case c.escAt.IsZero() || gap < answerJoined || gap >= answerEnds:
	case bytes.HasPrefix(b, []byte(pasteStart[1:])):
		b = append([]byte{'\x1b'}, b...) // Pasted text must not run as keys.
	default:
		b = c.begin(b, now)
	}
	c.escAt = time.Time{}
	if len(b) > 0 && b[len(b)-1] == '\x1b' {
		c.escAt = now
	}
	return b
}

// begin drops a sequence that begins the bytes.
func (c *cutAnswer) begin(b []byte, now time.Time) []byte {
	switch b[0] {
	case '[', ']':
		c.inside = b[0]
		c.until = now.Add(answerEnds)
		if len(b) == 1 {
			return nil
		}
		return c.drop(b[1:], now)
	case 'O':
		return b[min(2, len(b)):]
	}
	return b
}

// goOn drops more of a sequence if it can be part of it. Later bytes, and bytes that are not parameters, are typed.
func (c *cutAnswer) goOn(b []byte, now time.Time) []byte {
	isParameter := b[0] >= '0' && b[0] <= '?'
	if now.After(c.until) || c.inside == '[' && !isParameter {
		c.inside = 0
		return b
	}
	return c.drop(b, now)
}

// drop drops a sequence up to its end.
func (c *cutAnswer) drop(b []byte, now time.Time) []byte {
	c.until = now.Add(answerEnds)
	switch c.inside {
	case ']':
		return c.dropText(b)
	case 't':
		return c.dropRest(b)
	}
	for i, char := range b {
		if char >= 0x20 && char <= 0x3f {
			continue
		}
		c.inside = 0
		if char == 'M' && i == 0 { // A report of the mouse in three bytes.
			return b[min(4, len(b)):]
		}
		if char >= 0x40 && char <= 0x7e {
			return b[i+1:]
		}
		return b[i:]
	}
	return nil
}

// dropText drops the text of an answer up to its end. One begins with a number.
func (c *cutAnswer) dropText(b []byte) []byte {
	if b[0] < '0' || b[0] > '9' {
		c.inside = 0
		return b
	}
	c.inside = 't'
	return c.dropRest(b)
}

// dropRest drops text up to BEL or ST.
func (c *cutAnswer) dropRest(b []byte) []byte {
	for i, char := range b {
		isEnd := char == '\\' && i == 0
		if isEnd || char == '\a' {
			c.inside = 0
			return b[i+1:]
		}
		if char == '\x1b' && i+1 == len(b) {
			return nil // Its backslash is to come.
		}
		if char == '\x1b' && b[i+1] == '\\' {
			c.inside = 0
			return b[i+2:]
		}
		if char < 0x20 {
			c.inside = 0
			return b[i:]
		}
	}
	return nil
}
