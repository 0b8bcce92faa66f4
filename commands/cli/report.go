package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"fundesk/apiclient"
	"fundesk/render"
)

// ExitCodes are the contract with scripts.
var ExitCodes = map[apiclient.Kind]int{
	apiclient.KindFailure:         1,
	apiclient.KindUsage:           2,
	apiclient.KindNotFound:        3,
	apiclient.KindUnauthenticated: 4,
	apiclient.KindForbidden:       5,
	apiclient.KindConflict:        6,
	apiclient.KindRejected:        7,
	apiclient.KindUnavailable:     8,
	apiclient.KindPartial:         9,
	apiclient.KindUnknownOutcome:  10,
	apiclient.KindInterrupted:     130,
}

// ErrTerminated is the cause of a context that SIGTERM ended.
var ErrTerminated = errors.New("terminated")

// terminatedCode is the exit code of a command that repeats until it is terminated, as shells count signals.
const terminatedCode = 143

// Report is an error as it is printed.
type Report struct {
	Kind      apiclient.Kind `json:"kind"`
	Status    int            `json:"status"`
	Message   string         `json:"message"`
	Detail    []string       `json:"detail"`
	RequestID string         `json:"requestId"`
	Hint      string         `json:"hint"`
	Retryable bool           `json:"retryable"`
}

// newReport returns the report of an error. t is the target of the request, or nil.
func newReport(err error, t *Target) Report {
	r := Report{
		Kind:    apiclient.KindOf(err),
		Message: strings.ReplaceAll(err.Error(), "\n", "; "),
		Detail:  []string{},
	} // Of several, each is on a line.
	if known, ok := errors.AsType[*apiclient.Error](err); ok {
		r.Status, r.RequestID, r.Retryable = known.Status, known.RequestID, known.Retryable
		if known.Status != 0 { // It has its own field.
			r.Message = strings.TrimPrefix(r.Message, strconv.Itoa(known.Status)+" ")
		}
		if known.Detail != nil {
			r.Detail = known.Detail
		}
	}
	if with, ok := errors.AsType[Hinted](err); ok {
		r.Hint = with.hint
	}
	if missing, ok := errors.AsType[*apiclient.MissingExtensionError](err); ok && r.Hint == "" {
		r.Hint = "only a service that announces " + missing.Name + " has it; see: fundesk api GET /fundesk/v1"
	}
	if r.Hint == "" && isWithoutLogin(err) {
		r.Hint = LoginHint(t)
	}
	if r.Hint == "" {
		r.Hint = defaultHint(r.Kind, t)
	}
	if hint := hintOfTLS(err, t); hint != "" {
		r.Hint += "; " + hint
	}
	return r
}

// isWithoutLogin reports whether the service refused the token, perhaps only for a part of a bulk operation.
func isWithoutLogin(err error) bool {
	known, ok := ErrorAs(err)
	if !ok {
		return false
	}
	if known.Kind == apiclient.KindPartial {
		return apiclient.KindOf(known.Err) == apiclient.KindUnauthenticated
	}
	return known.Kind == apiclient.KindUnauthenticated
}

// AfterLogin puts the way to another token before a hint, if the service refused the token.
func (s *Session) AfterLogin(err error, hint string) string {
	if !isWithoutLogin(err) {
		return hint
	}
	t, _ := s.Resolve() // Nil if the configuration was broken meanwhile.
	return LoginHint(t) + "; then " + hint
}

// hintOfTLS returns the way out if a service could not prove its name, or "".
func hintOfTLS(err error, t *Target) string {
	if _, isForeign := errors.AsType[x509.UnknownAuthorityError](err); isForeign {
		hint := "--ca-cert FILE trusts an authority of your own"
		if t != nil && t.FromProfile && t.Name != "" {
			hint += "; to keep it: fundesk profile set " + t.Name + " ca_cert=FILE"
		}
		return hint
	}
	if _, isOther := errors.AsType[x509.HostnameError](err); isOther {
		return "another host has this certificate: check the base URL, or ask the service's operator"
	}
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	if isInvalid && invalid.Reason == x509.Expired {
		return "if this computer's clock is right, ask the service's operator to renew the certificate"
	}
	if _, isPlain := errors.AsType[tls.RecordHeaderError](err); isPlain {
		return "what answers there has no TLS: check the port"
	}
	if _, isRefused := apiclient.TLSAlert(err); isRefused && t != nil {
		return hintOfClientCertificate(t)
	}
	return ""
}

// hintOfClientCertificate returns the way out if a service refused the connection, perhaps for want of a certificate.
func hintOfClientCertificate(t *Target) string {
	if t.Profile.ClientCert != "" {
		return "it may not accept the certificate " + t.Profile.ClientCert + " of the profile"
	}
	name := "NAME"
	if t.FromProfile && t.Name != "" {
		name = t.Name
	}
	return "if it asks for a certificate: fundesk profile add " + name + " --base-url " + ShownURL(t.BaseURL) +
		" --set client_cert=FILE --set client_key=FILE"
}

// defaultHint returns the hint for an error without one.
func defaultHint(kind apiclient.Kind, t *Target) string {
	switch kind {
	case apiclient.KindForbidden:
		return "this account has no permission for that; ask the service's operator for the permission"
	case apiclient.KindUnavailable:
		if t == nil {
			return ""
		}
		return "the service is " + t.Service() + "; see: fundesk doctor" + TargetFlag(t)
	case apiclient.KindUnknownOutcome:
		return "read the record before you repeat the change"
	default:
		return ""
	}
}

// Finish prints an error and returns the exit code.
func (s *Session) Finish(command *cobra.Command, err error) int {
	if n, first := s.Omitted.Read(); n > 0 {
		s.Warn(
			"%s could not be read and left out, the first of them %s; -o json shows it as it was sent",
			Count(n, "embedded object"),
			first,
		)
	}
	s.TellRepaired()
	s.noteTokenEnd()
	s.noteUnsaved()
	if !WantsJSON(s.Args) {
		s.tellNotes()
	}
	if err == nil {
		s.tellNotes()
		return 0
	}
	if IsClosedPipe(err) {
		return 0
	}
	if known, _ := ErrorAs(err); known == nil && errors.Is(err, context.Canceled) {
		err = &apiclient.Error{Kind: apiclient.KindInterrupted, Message: "interrupted", Err: err}
	}
	r := newReport(err, s.Target)
	ends := s.tokenEnds.Load()
	hasEnded := ends != nil && !ends.IsZero() && ends.Before(s.App.Now())
	if r.Status == http.StatusUnauthorized && hasEnded {
		r.Message = "the token from " + s.Target.TokenSource() + " expired " + render.RelativeTime(*ends, s.App.Now())
	}
	if errors.Is(err, render.ErrNoIdentifier) {
		r.Kind = apiclient.KindUnavailable
	}
	if column, ok := errors.AsType[*render.ColumnError](err); ok {
		r.Kind = apiclient.KindUsage
		if near := Nearest(column.Name, column.Known); len(near) > 0 {
			r.Hint = "did you mean " + strings.Join(near[:min(len(near), 3)], " or ") + "?"
		}
	}
	if query, ok := errors.AsType[*render.QueryError](err); ok {
		r.Kind, r.Message = apiclient.KindFailure, query.Error()
	}
	if WantsJSON(s.Args) {
		line, _ := json.Marshal(map[string]Report{"error": r}) // Texts and numbers always can be.
		if IsTerminal(s.App.Err) {
			line = render.CleanJSON(line)
		}
		fmt.Fprintf(s.App.Err, "%s\n", line)
	} else {
		s.tell(command, r)
	}
	if errors.Is(err, ErrTerminated) {
		return terminatedCode
	}
	return ExitCodes[r.Kind]
}

func (s *Session) tell(command *cobra.Command, r Report) {
	what := ""
	if command != nil && command.HasParent() {
		what = strings.TrimPrefix(command.CommandPath(), "fundesk ") + ": "
	}
	if r.Status != 0 {
		what += strconv.Itoa(r.Status) + " "
	}
	fmt.Fprintf(s.App.Err, "fundesk: %s%s\n", what, render.Clean(r.Message))
	for i, detail := range r.Detail {
		if most := s.fittingDetails(); most > 0 && i == most {
			fmt.Fprintf(s.App.Err, "  … and %d more\n", len(r.Detail)-most)
			break
		}
		if strings.Contains(r.Message, detail) || r.Kind == apiclient.KindUsage && isInMessage(r, i) {
			continue
		}
		fmt.Fprintf(s.App.Err, "  %s\n", render.Clean(detail))
	}
	if r.RequestID != "" && r.Kind != apiclient.KindNotFound {
		fmt.Fprintf(s.App.Err, "  request: %s\n", render.Clean(r.RequestID))
	}
	if r.Hint != "" {
		fmt.Fprintf(s.App.Err, "hint: %s\n", render.Clean(r.Hint))
	}
}

// isInMessage reports whether the message gives the reason of a detail: the only one, or each in a part of its own.
func isInMessage(r Report, i int) bool {
	_, why, found := strings.Cut(r.Detail[i], ": ")
	if len(r.Detail) == 1 {
		return found && strings.Contains(r.Message, why)
	}
	parts := strings.Split(r.Message, "; ")
	return found && len(parts) == len(r.Detail) && strings.HasSuffix(parts[i], " "+why)
}

// fittingDetails returns how many details fit on the terminal, or 0 for all.
func (s *Session) fittingDetails() int {
	const besides = 6 // The message, the hint, the command line, and the next prompt.
	if file, ok := s.App.Err.(*os.File); ok {
		if _, height, err := term.GetSize(int(file.Fd())); err == nil {
			return max(5, height-besides)
		}
	}
	return 0
}

// IsClosedPipe reports whether the reader of the output went away. A connection to the
// service may break with the same error, and that must not end quietly.
func IsClosedPipe(err error) bool {
	if known, _ := ErrorAs(err); known != nil {
		return false
	}
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed)
}
