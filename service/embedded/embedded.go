// Package embedded is the whole service inside a process: an SQLite file, the rules and
// the HTTP interface, reached without a socket. It must not know its users.
//
//	s, err := embedded.Open(ctx, embedded.Options{Path: path, Sample: true})
//	client := &http.Client{Transport: s}
//	request.Header.Set("Authorization", "Bearer "+s.Token())
package embedded

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/sqlstore"
)

// Options choose the database and the clock.
type Options struct {
	Path     string                // SQLite file, made when it is not there.
	Sample   bool                  // Fill a database without organizations with sample data.
	Now      func() time.Time      // Nil means the system's clock.
	Progress func(done, total int) // Called with the number of sample persons made so far. May be nil.
}

// Service is an open embedded service. It is an http.RoundTripper.
type Service struct {
	http.RoundTripper
	store      *sqlstore.Store
	token      string
	colleagues *colleagues // Nil without sample data.
}

// accountName is the account that the process itself uses.
const accountName = "embedded"

// tokenLife is longer than a process runs.
const tokenLife = 366 * 24 * time.Hour

// Open opens the database, brings its schema up to date and, when asked, fills a new
// one. Of processes that race, one fills it and the others wait.
func Open(ctx context.Context, o Options) (_ *Service, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	store, err := sqlstore.Open(ctx, sqlstore.Options{Database: "sqlite:" + o.Path})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, store.Close())
		}
	}()
	rules, err := service.New(ctx, service.Options{Store: store, Now: o.Now})
	if err != nil {
		return nil, err
	}
	if o.Sample {
		if err := fill(ctx, rules, o); err != nil {
			return nil, fmt.Errorf("fill the database: %w", err)
		}
	}
	token, err := rules.OwnToken(ctx, accountName, tokenLife)
	if err != nil {
		return nil, err
	}
	s := &Service{Transport(httpapi.New(httpapi.Options{Service: rules, Now: o.Now})), store, token, nil}
	if o.Sample {
		s.colleagues, err = newColleagues(ctx, rules, token, o.Now)
	}
	return s, err
}

func fill(ctx context.Context, rules *service.Service, o Options) error {
	return rules.LoadIfEmpty(ctx, func(add func(service.LoadRecord) error) error {
		done := 0
		return Sample(SampleOptions{Now: o.Now()}, func(record service.LoadRecord) error {
			if record.Kind == service.LoadPerson && o.Progress != nil {
				done++
				o.Progress(done, DefaultSamplePersons)
			}
			return add(record)
		})
	})
}

// Token returns a bearer token of the process's own account. The account sees everything, and is stored in the
// database.
func (s *Service) Token() string { return s.token }

// Close ends the service; changes under way are finished first.
func (s *Service) Close() error { return s.store.Close() }
