package signintest

import (
	"context"
	"errors"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// What the provider's library asks for and the device flow does not use.

var errUnused = errors.New("the device flow does not use this")

func (storage) CreateAuthRequest(context.Context, *oidc.AuthRequest, string) (op.AuthRequest, error) {
	return nil, errUnused
}

func (storage) AuthRequestByID(context.Context, string) (op.AuthRequest, error) {
	return nil, errUnused
}

func (storage) AuthRequestByCode(context.Context, string) (op.AuthRequest, error) {
	return nil, errUnused
}
func (storage) SaveAuthCode(context.Context, string, string) error            { return errUnused }
func (storage) DeleteAuthRequest(context.Context, string) error               { return errUnused }
func (storage) TerminateSession(context.Context, string, string) error        { return errUnused }
func (storage) AuthorizeClientIDSecret(context.Context, string, string) error { return errUnused }
func (storage) Health(context.Context) error                                  { return nil }

func (storage) SetUserinfoFromScopes(context.Context, *oidc.UserInfo, string, string, []string) error {
	return nil
}

func (storage) SetUserinfoFromToken(context.Context, *oidc.UserInfo, string, string, string) error {
	return nil
}

func (storage) SetIntrospectionFromToken(
	context.Context,
	*oidc.IntrospectionResponse,
	string,
	string,
	string,
) error {
	return errUnused
}

func (storage) GetKeyByIDAndClientID(context.Context, string, string) (*jose.JSONWebKey, error) {
	return nil, errUnused
}

func (storage) ValidateJWTProfileScopes(context.Context, string, []string) ([]string, error) {
	return nil, errUnused
}
