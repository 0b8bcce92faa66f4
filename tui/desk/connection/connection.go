// Package connection has the state of the connection to the service, as its answers show it.
package connection

import (
	"errors"
	"fmt"
	"syscall"

	"fundesk/apiclient"
	"fundesk/tui/desk/event"
)

// State is the state of the connection. Make it with New.
type State struct {
	Offline   string // Why nothing reaches the service, in a word; "" when it does.
	Reason    string // The same in full, as the last answer had it.
	LoggedOut bool   // Nothing is sent until a new login.
	Stranger  bool   // The token belongs to another account by now: nothing is sent until that is decided.

	unauthorized bool // There was no token that the service takes, and it has answered nothing since.
	events       *event.Queue
	onLogin      func()
}

// New returns the state before the first answer. onLogin is called when the service accepts the token again.
func New(events *event.Queue, onLogin func()) *State { return &State{events: events, onLogin: onLogin} }

// note records the end of a request. It reports whether err is temporary, and whether the service accepts the token
// again.
func (c *State) note(err error) (passes, again bool) {
	failure, known := errors.AsType[*apiclient.Error](err)
	c.LoggedOut = apiclient.KindOf(err) == apiclient.KindUnauthenticated
	c.Stranger = errors.Is(err, apiclient.ErrOtherAccount)
	c.Reason = ""
	if known {
		c.Reason = failure.Message
	}
	switch apiclient.KindOf(err) {
	case "":
		again = c.unauthorized
		c.Offline, c.unauthorized = "", false
		return false, again
	case apiclient.KindUnavailable:
		switch {
		case !failure.Retryable:
			c.Offline = "wrong answers"
		case failure.Status != 0:
			c.Offline = fmt.Sprintf("service %d", failure.Status)
		default:
			c.Offline = "offline"
		}
		return failure.Retryable, false
	case apiclient.KindUnauthenticated:
		c.Offline = "not logged in"
		if c.Stranger {
			c.Offline = "another account"
		}
		c.unauthorized = true
	default:
		c.Offline = ""
	}
	return false, false
}

// NoteConnection updates the state of the connection. It reports whether err is a temporary error of the connection.
func (c *State) NoteConnection(err error) bool {
	passes, again := c.note(err)
	if err == nil {
		c.events.Over(event.OfConnection)
	}
	if again {
		c.onLogin()
	}
	return passes
}

// IsRead reports whether a reading worked. Otherwise it shows the error.
func (c *State) IsRead(what string, err error) bool {
	if err != nil {
		c.FailRead(what, err)
		return false
	}
	c.events.Over(what)
	c.NoteConnection(nil)
	return true
}

// FailRead shows that a reading failed, until it works again.
func (c *State) FailRead(what string, err error) {
	if owner, isShown := c.OwnerOf(what, err); isShown {
		c.events.FailOf(owner, event.ErrorText(what, err))
	}
}

// OwnerOf notes that a reading failed. It returns the owner of the error to show, and whether to show it. Without a
// login every reading fails, so that only the first one is shown, until the login is back.
func (c *State) OwnerOf(what string, err error) (string, bool) {
	wasLoggedOut := c.LoggedOut
	passes := c.NoteConnection(err)
	if c.LoggedOut {
		return event.OfLogin, !wasLoggedOut
	}
	return what, !passes
}

// Cause returns why the disk failed, without the paths and steps before it, for a short line.
func Cause(err error) string {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number.Error()
	}
	return err.Error()
}
