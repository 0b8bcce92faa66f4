package apitype

import (
	"net/url"
	"strings"
)

// BaseURL returns the one spelling of the address of a service, by which files that belong to it are found: scheme and
// host in lower case, and no slash at the end. It returns any other text without that slash.
func BaseURL(address string) string {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" {
		return strings.TrimRight(address, "/")
	}
	base.Host = strings.ToLower(base.Host)
	base.Path = strings.TrimRight(base.Path, "/")
	base.RawPath = strings.TrimRight(base.RawPath, "/")
	return base.String()
}
