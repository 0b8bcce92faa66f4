//go:build race

package main

// isRace says that the tests look for races; the programs that they run then do so too.
const isRace = true
