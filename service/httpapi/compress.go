package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// gzipFrom is how long a body is that is worth compressing, in bytes.
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

// compress is a body as gzip has it.
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
			if quality, err = strconv.ParseFloat(q, 64); err != nil {
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
