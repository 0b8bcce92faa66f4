//go:build race

package servicetest

const isRaced = true
