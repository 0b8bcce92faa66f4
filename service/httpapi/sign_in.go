package httpapi

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// SignIn holds the facts that a client needs to let a person sign in at the identity provider.
type SignIn struct {
	Issuer   string
	ClientID string   // Of the program fundesk at the provider.
	Scopes   []string // That the client asks for.
}

// resourcePath is the path of the description of this resource (RFC 9728). It lies below the base URL.
const resourcePath = "/.well-known/oauth-protected-resource"

// protectedResource describes where and how a person signs in. It needs no token.
func (a *api) protectedResource(w http.ResponseWriter, r *http.Request) {
	body, err := json.Marshal(apitype.ProtectedResource{
		Resource:               a.base(r),
		AuthorizationServers:   []string{a.signIn.Issuer},
		ScopesSupported:        a.signIn.Scopes,
		BearerMethodsSupported: []string{"header"},
		ClientID:               a.signIn.ClientID,
	})
	if err != nil {
		w.(*recorder).note.err = WriteError(w, err)
		return
	}
	write(w, http.StatusOK, jsonType, body)
}

// challenge names that description in the refusal of a token.
func (a *api) challenge(header http.Header, r *http.Request, err error) {
	if a.signIn != nil && service.KindOf(err) == service.Unauthenticated {
		header.Set("WWW-Authenticate", `Bearer realm="fundesk", resource_metadata="`+a.base(r)+resourcePath+`"`)
	}
}
