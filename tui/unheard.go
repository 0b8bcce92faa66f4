package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// longestPause is the longest pause between two keys of one text.
const longestPause = time.Second

// unheard is what the agent types behind a refused key that would have opened a line or a choice, behind one that is no
// answer to a question, or behind the text of a field that has closed by itself. Its keys are no commands, and no
// answers.
type unheard struct {
	key     string    // The refused key. Empty if nothing follows one.
	isDigit bool      // The key would have asked for a digit: other keys are not meant for it.
	text    bool      // Text has followed: the refused key is a letter now.
	last    time.Time // When the last of these keys came.
}

// follow notes that a key was refused that would have opened a line or, with isDigit, a choice by digits.
func (u *unheard) follow(key string, isDigit bool, now time.Time) {
	*u = unheard{key: key, isDigit: isDigit, last: now}
}

// followText notes that a text field has closed while the agent typed in it.
func (u *unheard) followText(now time.Time) {
	*u = unheard{key: "text", text: true, last: now}
}

// takes reports whether a key belongs to the text. Enter, another key without a text, or a pause ends the text.
func (u *unheard) takes(msg tea.KeyPressMsg, now time.Time) bool {
	name := msg.String()
	isEnd := u.text && name == "enter"
	isText := len(msg.Text) > 0 || u.text && name == "backspace"
	isAgain := !u.text && name == u.key
	if u.isDigit {
		isText = len(name) == 1 && '0' <= name[0] && name[0] <= '9'
	}
	isGoingOn := u.key != "" && now.Sub(u.last) < longestPause
	isPart := isText || isEnd
	if !isGoingOn || !isPart || isAgain {
		*u = unheard{}
		return false
	}
	u.text, u.last = true, now
	if isEnd {
		*u = unheard{}
	}
	return true
}
