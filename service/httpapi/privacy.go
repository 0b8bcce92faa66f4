package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// privacyRoutes are those of what a donor may ask for, an extension beside the interface.
func (a *api) privacyRoutes() []route {
	return []route{
		{http.MethodGet, "/fundesk/v1/erasures", service.PersonsRead, list(apitype.ParseErasureListOptions, a.service.ListErasures)},
		{http.MethodGet, "/fundesk/v1/persons/{uuid}/export", service.PersonsErase, get(a.service.ExportPersonFor)},
		{http.MethodPost, "/fundesk/v1/persons/{uuid}/erase", service.PersonsErase, actOn(a.erasePerson)},
	}
}

// extensionsFor returns what there is for an account: erasure is announced only to accounts that may erase.
func extensionsFor(c service.Account) []string {
	if c.May(service.PersonsErase) {
		return append(slices.Clip(extensionNames), apitype.ExtensionErase)
	}
	return extensionNames
}

// announceTo names on an answer the extensions that an account has beside those of all.
func announceTo(header http.Header, account service.Account) {
	if account.May(service.PersonsErase) && header[apitype.ExtensionsHeader] != nil {
		header[apitype.ExtensionsHeader] = []string{strings.Join(extensionsFor(account), ", ")}
	}
}

func (a *api) erasePerson(ctx context.Context, c service.Caller, id apitype.UUID, request apitype.EraseRequest) (service.Answer, error) {
	return a.service.ErasePersonFor(ctx, c, id, service.EraseRequest{Reason: request.Reason, DryRun: request.DryRun})
}
