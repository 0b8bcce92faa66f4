package tui

// crashRole and crashDesk belong to tests that need a pseudo-terminal.
const crashRole = "FUNDESK_TEST_CRASH"

func crashDesk() {}
