// Command hello counts keys on one line: the least program of the library behind the
// terminal interface, as the yardstick of its memory.
package main

import (
	"fmt"
	"os"

	tea "charm.land/bubbletea/v2"
)

type hello struct{ keys int }

func (h hello) Init() tea.Cmd { return nil }

func (h hello) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, pressed := msg.(tea.KeyPressMsg); pressed {
		h.keys++
	}
	return h, nil
}

func (h hello) View() tea.View { return tea.NewView(fmt.Sprintf("hello %d", h.keys)) }

func main() {
	if _, err := tea.NewProgram(hello{}).Run(); err != nil {
		fmt.Fprintln(os.Stderr, "hello:", err)
		os.Exit(1)
	}
}
