package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/gzip"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// statuses has the HTTP status of each kind of refusal. Spec gap: R2.
var statuses = map[service.Kind]int{
	service.Unauthenticated:    http.StatusUnauthorized,
	service.Forbidden:          http.StatusForbidden,
	service.Invalid:            http.StatusBadRequest,
	service.NotFound:           http.StatusNotFound,
	service.PreconditionFailed: http.StatusPreconditionFailed,
	service.Gone:               http.StatusGone,
	service.Conflict:           http.StatusConflict,
	service.Unavailable:        http.StatusServiceUnavailable,
	service.Internal:           http.StatusInternalServerError,
}

// problemTypes name the problems for machines, by status. Spec gap: R1.
var problemTypes = map[int]struct{ name, title string }{
	http.StatusBadRequest:            {"validation", "The request is not valid"},
	http.StatusUnauthorized:          {"unauthenticated", "The request is not authenticated"},
	http.StatusForbidden:             {"forbidden", "The account may not do this"},
	http.StatusNotFound:              {"not-found", "There is no such thing"},
	http.StatusMethodNotAllowed:      {"method-not-allowed", "The path does not have this method"},
	http.StatusConflict:              {"conflict", "The state of the record does not allow this"},
	http.StatusGone:                  {"gone", "The position is no longer valid"},
	http.StatusPreconditionFailed:    {"precondition-failed", "The record was changed in the meantime"},
	http.StatusRequestEntityTooLarge: {"too-large", "The body is too large"},
	http.StatusUnsupportedMediaType:  {"unsupported-media-type", "The body is not JSON"},
	http.StatusTooManyRequests:       {"too-many-requests", "Too many requests"},
	http.StatusServiceUnavailable:    {"unavailable", "The service cannot answer now"},
	http.StatusInternalServerError:   {"internal", "The service failed"},
}

var (
	jsonType    = []string{"application/json"}
	problemType = []string{"application/problem+json"}

	varyByCoding = []string{"Accept-Encoding"}
	isTrue       = []string{"true"}
)

// statusError is a refusal that only HTTP knows.
type statusError struct {
	status int
	detail string
}

func (e *statusError) Error() string { return e.detail }

// WriteError answers with the problem that an error is, and returns what must be logged: errors that are
// not the caller's doing.
func WriteError(w http.ResponseWriter, err error) error {
	if refused, ok := errors.AsType[*statusError](err); ok {
		WriteProblem(w, refused.status, refused.detail)
		return nil
	}
	refusal, ok := errors.AsType[*service.Error](err)
	if !ok || refusal.Kind == service.Internal {
		WriteProblem(
			w,
			http.StatusInternalServerError,
			"the service could not answer; nothing is known to be wrong with the request",
		)
		return err
	}
	status := statuses[refusal.Kind]
	advise(w.Header(), status)
	sendProblem(
		w,
		apitype.Problem{
			Status: status,
			Detail: refusal.Detail,
			Errors: refusal.Violations,
			Lease:  refusal.Lease,
		},
	)
	return refusal.Cause
}

// advise sets the header with the advice for a refusal, such as Retry-After.
func advise(header http.Header, status int) {
	switch status {
	case http.StatusUnauthorized:
		if header.Get("WWW-Authenticate") == "" {
			header.Set("WWW-Authenticate", `Bearer realm="fundesk"`)
		}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		header.Set("Retry-After", "1")
	}
}

// Refuse answers a request as the interface does when it refuses it, for a sandbox.
func Refuse(w http.ResponseWriter, r *http.Request, status int, detail string) {
	begin(w.Header(), r)
	advise(w.Header(), status)
	WriteProblem(w, status, detail)
}

// WriteProblem answers with problem+json. Handlers outside the interface use it, too.
func WriteProblem(w http.ResponseWriter, status int, detail string) {
	sendProblem(w, apitype.Problem{Status: status, Detail: detail})
}

// sendProblem answers with problem+json. The request id is in the header already.
func sendProblem(w http.ResponseWriter, p apitype.Problem) {
	known := problemTypes[p.Status]
	if more := len(p.Errors) - apitype.MaxProblems; more > 0 {
		p.Errors = p.Errors[:apitype.MaxProblems]
		p.Detail += fmt.Sprintf("; %d more are not listed", more)
	}
	p.Type, p.Title, p.Instance = "urn:fundesk:problem:"+known.name, known.title, w.Header().Get("X-Request-Id")
	body, err := json.Marshal(p, jsontext.AllowInvalidUTF8(true)) // The name of an unknown parameter may be anything.
	if err != nil {
		panic(fmt.Sprintf("a problem is plain text, but: %v", err))
	}
	write(w, p.Status, problemType, body)
}

// write sends a whole body, compressed if the caller accepts that and it is worth it. Spec gap: S32.
func write(w http.ResponseWriter, status int, contentType []string, body []byte) {
	header := w.Header()
	recorded, ok := w.(*recorder)
	weight := int64(len(body))
	if ok && len(body) >= gzipFrom {
		header["Vary"] = varyByCoding
		if recorded.gzip {
			header["Content-Encoding"] = gzipCoding
			body = compress(body)
		}
	}
	if ok && recorded.pass != nil {
		if err := recorded.pass.send(int64(len(body)), weight); err != nil {
			delete(header, "Content-Encoding")
			delete(header, "Etag")
			_ = WriteError(w, err)
			return
		}
	}
	header["Content-Type"] = contentType
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body) // The caller may have left.
}

// respond sends the answer of an operation. A record has its entity tag. Without content the status is 204. Spec gap:
// R12.
func respond(w http.ResponseWriter, status int, answer service.Answer, err error) error {
	switch {
	case err != nil:
	case answer.JSON == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		if answer.Rev > 0 {
			w.Header()["Etag"] = entityTag(answer.Rev)
		}
		if answer.IsSent {
			w.Header()[apitype.SentHeader] = isTrue
		}
		if answer.Effect != "" {
			w.Header()[apitype.EffectsHeader] = []string{string(answer.Effect)}
		}
		if answer.Settled != nil {
			w.Header()[apitype.SettledHeader] = []string{answer.Settled.String()}
		}
		if answer.Epoch != "" {
			w.Header()[apitype.EpochHeader] = []string{answer.Epoch}
		}
		write(w, status, jsonType, answer.JSON)
	}
	return err
}

func entityTag(rev int64) []string { return []string{`"` + strconv.FormatInt(rev, 10) + `"`} }

// isSame reports whether the caller already has the revision, according to If-None-Match.
func isSame(r *http.Request, rev int64) bool {
	tags := r.Header.Values("If-None-Match")
	if len(tags) == 0 {
		return false
	}
	named := revisions([]string{strings.ReplaceAll(strings.Join(tags, ","), `W/"`, `"`)}) // Weak ones do for a read.
	return named == nil || slices.Contains(named, rev)
}

func match(r *http.Request) service.Match { return revisions(r.Header.Values("If-Match")) }

// revisions reads entity tags; none, and *, are nil. A tag that is not ours matches nothing; a weak one
// never does.
func revisions(values []string) service.Match {
	if len(values) == 0 {
		return nil
	}
	revisions := service.Match{}
	for tag := range strings.SplitSeq(strings.Join(values, ","), ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" {
			return nil
		}
		n, err := strconv.ParseInt(strings.Trim(tag, `"`), 10, 64)
		if err == nil && entityTag(n)[0] == tag {
			revisions = append(revisions, n)
		}
	}
	return revisions
}

// gzipFrom is the length from which a body is worth compressing, in bytes.
const gzipFrom = 1 << 10

var gzipCoding = []string{"gzip"}

// gzipWriters are kept between answers: each has a large table.
var gzipWriters = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic("the level is one of the package's own: " + err.Error())
	}
	return z
}}

func compress(body []byte) []byte {
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	packed := bytes.NewBuffer(make([]byte, 0, len(body)/4))
	z.Reset(packed)
	_, _ = z.Write(body) // A buffer takes everything.
	_ = z.Close()
	return packed.Bytes()
}

// acceptsGzip reports whether a caller wants answers compressed: it names the coding, or any,
// and does not refuse it.
func acceptsGzip(h http.Header) bool {
	named, any := -1.0, 0.0
	for coding := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		name, parameters, _ := strings.Cut(coding, ";")
		quality := 1.0
		if q, found := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(parameters), " ", ""), "q="); found {
			var err error
			quality, err = strconv.ParseFloat(q, 64)
			if err != nil {
				quality = 0
			}
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip", "x-gzip":
			named = quality
		case "*":
			any = quality
		}
	}
	return named > 0 || named < 0 && any > 0
}

const (
	pieceSize    = 256 << 10 // Bytes of an answer that is made while it is sent, which are sent at once.
	streamWeight = 2 << 20   // What such an answer takes of the memory while it is made.
)

// stream sends an answer in pieces, and counts the bytes of each against the rate. The answer is weighed before
// anything is read, and refused if there is no room for it. An error after the first piece ends the connection,
// because half an answer must not look complete.
func stream(w *recorder, r *http.Request, answer service.Answer) error {
	if !w.pass.weigh(streamWeight, false) {
		return w.pass.refused()
	}
	p := &pieces{recorder: w}
	if err := answer.Stream(r.Context(), p); err != nil && p.sent {
		panic(http.ErrAbortHandler)
	} else if err != nil {
		return err
	}
	if !p.sent {
		write(w, http.StatusOK, jsonType, p.buffer)
		return nil
	}
	if p.flush(); p.gzip != nil {
		_ = p.gzip.Close() // The caller may have left.
		gzipWriters.Put(p.gzip)
	}
	return nil
}

// pieces is the body of an answer that is sent while it is made.
type pieces struct {
	*recorder
	buffer []byte
	sent   bool
	gzip   *gzip.Writer // Nil if the answer is not compressed.
	err    error
}

// Write sends the buffer once it is a full piece.
func (p *pieces) Write(data []byte) (int, error) {
	p.buffer = append(p.buffer, data...)
	if len(p.buffer) >= pieceSize {
		p.flush()
	}
	return len(data), p.err
}

func (p *pieces) flush() {
	if !p.sent {
		header := p.Header()
		header["Content-Type"], header["Vary"] = jsonType, varyByCoding
		if p.recorder.gzip {
			header["Content-Encoding"] = gzipCoding
			p.gzip = gzipWriters.Get().(*gzip.Writer)
			p.gzip.Reset(p.recorder)
		}
		p.sent = true
		p.WriteHeader(http.StatusOK)
	}
	p.err = p.pass.pay(int64(len(p.buffer)), true)
	if p.err == nil && p.gzip != nil {
		_, p.err = p.gzip.Write(p.buffer)
	} else if p.err == nil {
		_, p.err = p.recorder.Write(p.buffer)
	}
	p.buffer = p.buffer[:0]
}
