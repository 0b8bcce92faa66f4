// Package release holds the version of fundesk. Programs, packages, openapi.json and the first heading
// of CHANGELOG.md have the same one.
package release

// Version is the version of both programs.
const Version = "0.2.0"
