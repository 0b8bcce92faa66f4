//go:build !unix

package main

// asService is for systems whose packages bring a user for the service.
func asService([]string) error { return nil }
