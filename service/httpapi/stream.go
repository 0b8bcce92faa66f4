package httpapi

import (
	"context"
	"net/http"

	"github.com/klauspost/compress/gzip"

	"fundesk/service"
)

const (
	pieceSize    = 256 << 10 // Bytes of an answer that is made while it is sent, which are sent at once.
	streamWeight = 2 << 20   // What such an answer takes of the memory while it is made.
)

// stream sends an answer that is not in memory, piece by piece, each of which is paid for. It is
// weighed before anything is read, and refused where it does not fit. One that fails when a part was
// sent ends the connection: half an answer must not look whole.
func stream(w *recorder, r *http.Request, answer service.Answer) error {
	leave, err := w.api.answers.enter(w.account, streamWeight, false)
	if err != nil {
		_ = service.Pause(r.Context(), refusalPause)
		return err
	}
	defer leave()
	p := &pieces{recorder: w, ctx: r.Context()}
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
		_ = p.gzip.Close() // A caller that went away cannot be told.
		gzipWriters.Put(p.gzip)
	}
	return nil
}

// pieces is the body of an answer that is sent while it is made.
type pieces struct {
	*recorder
	ctx    context.Context //nolint:containedctx // Of the request whose body it is.
	buffer []byte
	sent   bool
	gzip   *gzip.Writer // Nil: it is not compressed.
	err    error
}

// Write sends what is a piece.
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
	p.err = p.api.pacer.pay(p.ctx, p.account, int64(len(p.buffer)), true)
	if p.err == nil && p.gzip != nil {
		_, p.err = p.gzip.Write(p.buffer)
	} else if p.err == nil {
		_, p.err = p.recorder.Write(p.buffer)
	}
	p.buffer = p.buffer[:0]
}
