// Package release says which version of fundesk this is. Programs, packages and openapi.json say
// the same, and so does the first heading of CHANGELOG.md.
package release

// Version is the version of both programs.
const Version = "0.2.0"
