package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/queue"
)

// operations returns the operations of the interface and of its extensions.
func (a *api) operations() []route {
	s, p, q := a.service, a.privacy, a.queue
	return []route{
		{http.MethodGet, "/api/v1/persons", service.PersonsRead, list(apitype.ParsePersonListOptions, s.ListPersons)},
		{http.MethodPost, "/api/v1/persons", service.PersonsCreate, create(s.CreatePerson)},
		{http.MethodGet, "/api/v1/persons/{uuid}", service.PersonsRead, getUnlessSame(s.GetPerson)},
		{http.MethodPut, "/api/v1/persons/{uuid}/actions/update", service.PersonsUpdate, change(s.UpdatePerson)},
		{
			http.MethodGet,
			"/api/v1/calls",
			service.CallsRead,
			list(apitype.ParseCallListOptions, s.ListCalls, service.AllowCallIncludes),
		},
		{http.MethodPost, "/api/v1/calls", service.CallsCreate, a.createCall()},
		{http.MethodGet, "/api/v1/calls/{uuid}", service.CallsRead, get(s.GetCall)},
		{http.MethodPut, "/api/v1/calls/{uuid}/actions/add-attempt", service.CallsAttempt, change(s.AddAttempt)},
		{http.MethodPut, "/api/v1/calls/{uuid}/actions/complete", service.CallsComplete, change(s.CompleteCall)},
		{http.MethodPut, "/api/v1/calls/{uuid}/actions/cancel", service.CallsCancel, change(s.CancelCall)},
		{http.MethodPut, "/api/v1/calls/{uuid}/actions/expire", service.CallsExpire, change(s.ExpireCall)},
		{
			http.MethodGet,
			"/api/v1/pledges",
			service.PledgesRead,
			list(apitype.ParsePledgeListOptions, s.ListPledges, service.AllowPledgeIncludes),
		},
		{http.MethodPost, "/api/v1/pledges", service.PledgesCreate, create(s.CreatePledge)},
		{http.MethodGet, "/api/v1/pledges/{uuid}", service.PledgesRead, get(s.GetPledge)},
		{http.MethodPut, "/api/v1/pledges/{uuid}/actions/update", service.PledgesUpdate, change(s.UpdatePledge)},
		{http.MethodPut, "/api/v1/pledges/{uuid}/actions/{statusUpdateAction}", service.PledgesAct, a.actOnPledge()},
		{
			http.MethodPost,
			"/api/v1/entity-access/actions/mark-processed",
			service.EntitiesMark,
			act(http.StatusBadRequest, a.markProcessed),
		},
		{http.MethodGet, "/fundesk/v1", "", read(a.extensions)},
		{http.MethodGet, "/fundesk/v1/queue", service.CallsRead, list(apitype.ParseQueueOptions, q.State)},
		{
			http.MethodGet,
			"/fundesk/v1/queue/calls",
			service.CallsRead,
			list(apitype.ParseQueueCallListOptions, q.Calls),
		},
		{
			http.MethodGet,
			"/fundesk/v1/queue/leases",
			service.CallsRead,
			list(apitype.ParseQueueLeaseListOptions, q.Leases),
		},
		{
			http.MethodGet,
			"/fundesk/v1/queue/agents",
			service.CallsRead,
			list(apitype.ParseQueueAgentsOptions, q.Agents),
		},
		{http.MethodPut, "/fundesk/v1/queue/users/{uuid}/state", service.CallsAttempt, actOn(q.SetState)},
		{http.MethodGet, "/fundesk/v1/queue/message", service.CallsRead, read(q.Messages)},
		{http.MethodPut, "/fundesk/v1/queue/message", service.SettingsWrite, act(http.StatusOK, q.SetMessage)},
		{http.MethodPost, "/fundesk/v1/queue/take", service.CallsRead, worked(act(http.StatusOK, q.Take))},
		{
			http.MethodGet,
			"/fundesk/v1/queue/deferrals",
			service.CallsRead,
			list(apitype.ParseQueueDeferralListOptions, q.Deferrals),
		},
		{http.MethodPost, "/fundesk/v1/queue/release", service.CallsRead, worked(act(http.StatusOK, q.ReleaseUser))},
		{http.MethodPut, "/fundesk/v1/queue/calls/{uuid}/lease", service.CallsRead, worked(actOn(q.Lease))},
		{http.MethodPost, "/fundesk/v1/queue/leases/{uuid}/extend", service.CallsRead, worked(actOn(q.Extend))},
		{http.MethodPost, "/fundesk/v1/queue/leases/{uuid}/release", service.CallsRead, worked(without(q.Release))},
		{http.MethodPut, "/fundesk/v1/queue/calls/{uuid}/later", service.CallsRead, worked(without(q.Defer))},
		{http.MethodPost, "/fundesk/v1/queue/calls/{uuid}/notes", service.CallsRead, worked(without(q.LeaveNote))},
		{
			http.MethodGet,
			"/fundesk/v1/calls/missing-checks",
			service.CallsRead,
			list(apitype.ParseMissingChecksOptions, s.ListMissingChecks),
		},
		{http.MethodGet, "/fundesk/v1/calls/{uuid}/checks", service.CallsRead, get(s.Checks)},
		{http.MethodPut, "/fundesk/v1/calls/{uuid}/checks", "", allowed(service.MayCheck, actOn(s.PutChecks))},
		{http.MethodGet, "/fundesk/v1/calls/{uuid}/attempts", service.CallsRead, get(s.Attempts)},
		{
			http.MethodPut,
			"/fundesk/v1/calls/{uuid}/attempts/{attemptAt}",
			service.CallsAttempt,
			describeAttempt(s.DescribeAttempt),
		},
		{
			http.MethodGet,
			"/fundesk/v1/queue/agents/{uuid}/work",
			service.CallsRead,
			listOf(apitype.ParseAgentWorkOptions, s.Work),
		},
		{http.MethodGet, "/fundesk/v1/persons/{uuid}/consents", service.PersonsRead, get(s.Consents)},
		{http.MethodPost, "/fundesk/v1/persons/{uuid}/consents", service.PersonsUpdate, createFor(s.AddConsent)},
		{http.MethodPost, "/fundesk/v1/do-not-call/check", service.CallsRead, act(http.StatusOK, s.CheckNumber)},
		{
			http.MethodPost,
			"/fundesk/v1/do-not-call",
			service.SettingsWrite,
			act(http.StatusNoContent, withoutAnswer(s.BlockNumber)),
		},
		{
			http.MethodPost,
			"/fundesk/v1/do-not-call/remove",
			service.SettingsWrite,
			act(http.StatusNoContent, withoutAnswer(s.UnblockNumber)),
		},
		{http.MethodGet, "/fundesk/v1/settings", service.CallsRead, read(s.Settings)},
		{http.MethodPut, "/fundesk/v1/settings/{uuid}", service.SettingsWrite, change(s.PutSettings)},
		{
			http.MethodGet,
			"/fundesk/v1/erasures",
			service.PersonsRead,
			list(apitype.ParseErasureListOptions, s.ListErasures),
		},
		{
			http.MethodGet,
			"/fundesk/v1/changes",
			service.ChangesRead,
			list(apitype.ParseChangeListOptions, s.ListChanges),
		},
		{http.MethodGet, "/fundesk/v1/persons/{uuid}/export", service.PersonsErase, get(p.ExportFor)},
		{http.MethodPost, "/fundesk/v1/persons/{uuid}/erase", service.PersonsErase, actOn(p.EraseFor)},
	}
}

// createCall leases the new call as well if a header names a user and the account may lease.
func (a *api) createCall() handler {
	h := create(a.service.CreateCall)
	createOnly := h.serve
	h.readsLeaseFor = true
	h.serve = func(w *recorder, r *http.Request, c service.Caller) error {
		named := strings.Join(r.Header.Values(apitype.LeaseForHeader), ", ") // Two users are no UUID.
		if named == "" || queue.Require(c) != nil {
			return createOnly(w, r, c)
		}
		user, err := apitype.ParseUUID(named)
		if err != nil {
			return service.NotValid(apitype.Violations{{
				Parameter: apitype.LeaseForHeader,
				Message:   err.Error(),
			}})
		}
		save := func(ctx context.Context, c service.Caller, request apitype.CreateCallRequest) (service.Answer, error) {
			return a.queue.CreateCall(ctx, c, request, user)
		}
		return create(save).serve(w, r, c)
	}
	return h
}

// actOnPledge takes no body, or {}. Spec gap: R13.
func (a *api) actOnPledge() handler {
	act := change[struct{}](nil)
	act.serve = func(w *recorder, r *http.Request, c service.Caller) error {
		action := apitype.PledgeAction(r.PathValue("statusUpdateAction"))
		save := func(
			ctx context.Context, c service.Caller, id apitype.UUID, m service.Match, _ struct{},
		) (service.Answer, error) {
			return a.service.ActOnPledge(ctx, c, id, m, action)
		}
		return change(save).serve(w, r, c)
	}
	return act
}

// markRequest is the body with its entries as they came: a wrong value in one is
// reported on its own. Spec gap: R1.
type markRequest struct {
	Entries []apitype.UncheckedEntry `json:"entries"`
}

// markProcessed answers with the entries that failed alone.
func (a *api) markProcessed(
	ctx context.Context,
	c service.Caller,
	request markRequest,
) (service.Answer, error) {
	var answer service.Answer
	failures, err := a.service.MarkProcessed(ctx, c, request.Entries)
	if err != nil || len(failures) == 0 {
		return answer, err
	}
	answer.JSON, err = json.Marshal(apitype.ProcessedErrors{Errors: failures})
	return answer, err
}

// extensionNames are the names that answers announce.
var extensionNames = []string{
	apitype.ExtensionQueue,
	apitype.ExtensionStatus,
	apitype.ExtensionNotes,
	apitype.ExtensionFilters,
	apitype.ExtensionSettings,
	apitype.ExtensionPending,
	apitype.ExtensionEffects,
	apitype.ExtensionDoNotCall,
	apitype.ExtensionChecks,
	apitype.ExtensionConsents,
	apitype.ExtensionRevisions,
	apitype.ExtensionSearch,
	apitype.ExtensionRules,
	apitype.ExtensionCompletedBy,
	apitype.ExtensionAgentsByUser,
	apitype.ExtensionCompleters,
	apitype.ExtensionUserState,
	apitype.ExtensionMessage,
	apitype.ExtensionAttempts,
	apitype.ExtensionChanges,
	apitype.ExtensionDetails,
	apitype.ExtensionLeaseForHeader,
}

var extensionHeader = []string{strings.Join(extensionNames, ", ")}

// announce names the extensions on every answer below the interface and below them.
func announce(header http.Header, path string) {
	if strings.HasPrefix(path, "/api/v1/") || path == "/fundesk/v1" || strings.HasPrefix(path, "/fundesk/v1/") {
		header[apitype.ExtensionsHeader] = extensionHeader
	}
}

func (a *api) extensions(_ context.Context, c service.Caller) (service.Answer, error) {
	var answer service.Answer
	var err error
	answer.JSON, err = json.Marshal(apitype.Extensions{
		Extensions: extensionsFor(c.Account),
		Version:    a.version,
		User:       c.Person,
	})
	return answer, err
}

// worked answers requests that work with the queue.
func worked(h handler) handler { return allowed(queue.Require, h) }

// allowed checks permissions before the values of a request. Spec gap: R3.
func allowed(may func(service.Caller) error, h handler) handler {
	serve := h.serve
	h.isGuarded = true
	h.serve = func(w *recorder, r *http.Request, c service.Caller) error {
		if err := may(c); err != nil {
			return err
		}
		return serve(w, r, c)
	}
	return h
}

// without handles a change whose answer has no body.
func without[T any](save func(context.Context, service.Caller, apitype.UUID, T) error) handler {
	return actOn(func(ctx context.Context, c service.Caller, id apitype.UUID, request T) (service.Answer, error) {
		return service.Answer{}, save(ctx, c, id, request)
	})
}

// withoutAnswer handles a change of several records, whose answer has no body.
func withoutAnswer[T any](
	save func(context.Context, service.Caller, T) error,
) func(context.Context, service.Caller, T) (service.Answer, error) {
	return func(ctx context.Context, c service.Caller, request T) (service.Answer, error) {
		return service.Answer{}, save(ctx, c, request)
	}
}

// extensionsFor returns what there is for an account: erasure is announced only to accounts that may erase.
func extensionsFor(c service.Account) []string {
	if c.May(service.PersonsErase) {
		return append(slices.Clip(extensionNames), apitype.ExtensionErase)
	}
	return extensionNames
}

// announceTo names on an answer the extensions that only some accounts have.
func announceTo(header http.Header, account service.Account) {
	if account.May(service.PersonsErase) && header[apitype.ExtensionsHeader] != nil {
		header[apitype.ExtensionsHeader] = []string{strings.Join(extensionsFor(account), ", ")}
	}
}

var textType = []string{"text/plain; charset=utf-8"}

// ready reports that a change could be made now, or with ?for=reads that reads are answered.
func (a *api) ready(w http.ResponseWriter, r *http.Request) {
	err := a.service.Ready(r.Context())
	if err == nil && r.URL.Query().Get("for") != "reads" {
		err = a.service.Store().PingChanges(r.Context())
	}
	if err != nil {
		if refusal, ok := errors.AsType[*service.Error](err); ok && refusal.Cause != nil {
			err = fmt.Errorf("%w: %w", err, refusal.Cause)
		}
		w.(*recorder).note.err = err
		w.Header().Set("Retry-After", "1")
		WriteProblem(w, http.StatusServiceUnavailable, "the database does not answer, or changes cannot be made")
		return
	}
	write(w, http.StatusOK, textType, []byte("ok\n"))
}

// signatureTypes are the forms of files that a browser may show; others are only
// downloaded, so that none can act as a page of the service.
var signatureTypes = map[string]bool{
	"image/png":       true,
	"image/jpeg":      true,
	"image/gif":       true,
	"image/webp":      true,
	"application/pdf": true,
}

// signature sends a signature file to the holder of a link to it. Spec gap: G10.
func (a *api) signature(w http.ResponseWriter, r *http.Request) {
	id, err := apitype.ParseUUID(r.PathValue("uuid"))
	if err != nil {
		WriteProblem(w, http.StatusNotFound, "there is no such signature file, or the link to it is no longer valid")
		return
	}
	values := r.URL.Query()
	content, err := a.service.Signature(r.Context(), id, values.Get("expires"), values.Get("signature"))
	if err != nil {
		w.(*recorder).note.err = WriteError(w, err)
		return
	}
	kind := http.DetectContentType(content)
	if !signatureTypes[kind] {
		kind = "application/octet-stream"
		w.Header().Set("Content-Disposition", "attachment")
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	write(w, http.StatusOK, []string{kind}, content)
}
