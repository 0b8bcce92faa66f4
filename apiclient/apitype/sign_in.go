package apitype

// ProtectedResource is the answer to GET /.well-known/oauth-protected-resource: where a person signs in (RFC 9728).
type ProtectedResource struct {
	Resource               string   `json:"resource"`              // The base URL of the service.
	AuthorizationServers   []string `json:"authorization_servers"` // The issuer.
	ScopesSupported        []string `json:"scopes_supported,omitempty"`
	BearerMethodsSupported []string `json:"bearer_methods_supported,omitempty"`
	ClientID               string   `json:"client_id,omitempty"` // Of the program fundesk at the issuer.
}
