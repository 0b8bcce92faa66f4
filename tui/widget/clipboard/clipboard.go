// Package clipboard replaces the module that bubbles uses for the clipboard of the computer. That module looks through
// PATH for its programs whenever fundesk starts, and fundesk never asks it: a terminal pastes by itself, and copies
// with OSC 52.
package clipboard

import "errors"

// ReadAll returns that there is no clipboard.
func ReadAll() (string, error) { return "", errors.ErrUnsupported }

// WriteAll returns that there is no clipboard.
func WriteAll(string) error { return errors.ErrUnsupported }
