package tui

const crashRole = "FUNDESK_TEST_CRASH"

func crashDesk() {}
