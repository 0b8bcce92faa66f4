package httpapi

import (
	"errors"
	"fmt"
	"net/http"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

var textType = []string{"text/plain; charset=utf-8"}

// ready tells that a change could be made now; with ?for=reads, that what only reads is answered.
func (a *api) ready(w http.ResponseWriter, r *http.Request) {
	err := a.service.Ready(r.Context())
	if err == nil && r.URL.Query().Get("for") != "reads" {
		err = a.service.ReadyForChanges(r.Context())
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
var signatureTypes = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "application/pdf": true}

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
