package service

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"time"

	"fundesk/apiclient/apitype"
)

// signatureLife is how long a link to a signature file is valid.
// (interface: Limits).
const signatureLife = time.Hour

// links writes the links of one answer to the signature files of pledges, which need no
// token. The hash is kept between links, as it is between cursors. Spec gap: G10.
type links struct {
	base    string // Of the service, without a slash at the end.
	expires string // Seconds since 1970.
	mac     hash.Hash
	signed  []byte // What is authenticated, kept for the next link.
}

func (k keys) links(base, expires string) *links {
	return &links{base: base, expires: expires, mac: hmac.New(sha256.New, k.link)}
}

// append writes the link of a pledge.
func (l *links) append(dst []byte, pledge apitype.UUID) []byte {
	dst = append(append(append(dst, l.base...), "/signatures/"...), pledge.String()...)
	dst = append(append(append(dst, "?expires="...), l.expires...), "&signature="...)
	return l.sign(dst, pledge)
}

// sign writes what proves that a link is of this service.
func (l *links) sign(dst []byte, pledge apitype.UUID) []byte {
	l.signed = append(append(l.signed[:0], pledge[:]...), l.expires...)
	l.mac.Reset()
	l.mac.Write(l.signed)
	return base64.RawURLEncoding.AppendEncode(dst, l.mac.Sum(l.signed[:0]))
}
