package main

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"fundesk/service"
	"fundesk/service/privacy"
	"fundesk/service/queue"
)

const (
	tendPause        = time.Second // Between two rounds for the queue.
	maintenancePause = time.Minute // Between two of the other work.
	copyPause        = time.Hour   // Between two copies of the erasures.
	lastCopyTime     = 2 * time.Second
)

// maxClockSkew is the difference of clocks that is logged. Changes have the database's time, and tokens expire by the
// local clock.
const maxClockSkew = 5 * time.Second

// maintenance is the work of a running server that no request asks for.
type maintenance struct {
	service func() *service.Service // Returns nil until the database is open.
	privacy func() *privacy.Service
	// copyErasures returns how many erasures the database lacks. Nil in a sandbox, which has no file of them.
	copyErasures   func(context.Context, *service.Service) (lost int, err error)
	lostErasures   *atomic.Int64 // Of the last copy.
	logger         *slog.Logger
	countQueue     func(event queue.Event, n int)
	erasuresCopied time.Time
}

// run tends the queue each second and does the other work each minute, until the context ends. Work that fails is
// tried again in the next round. At the end it copies the erasures once more: a restore comes after the stop of all
// machines.
func (m *maintenance) run(ctx context.Context) {
	var done time.Time
	for ctx.Err() == nil {
		s := m.service()
		if s != nil {
			err := queue.New(s, m.countQueue).Tend(ctx)
			if time.Since(done) >= maintenancePause {
				done = time.Now()
				if service.KindOf(err) != service.Unavailable { // Requests fail too, or the database is a standby.
					m.warn(ctx, err, "the periodic work of the queue was not done")
				}
				m.round(ctx, s)
			}
		}
		_ = service.Pause(ctx, tendPause)
	}
	s := m.service()
	if s == nil {
		return
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastCopyTime)
	defer cancel()
	m.copy(ending, s)
}

// copy copies the erasures, if this machine has a file of them.
func (m *maintenance) copy(ctx context.Context, s *service.Service) {
	if m.copyErasures == nil {
		return
	}
	m.erasuresCopied = time.Now()
	lost, err := m.copyErasures(ctx, s)
	m.warn(ctx, err, "the erasures of the database were not copied to this machine's file, which a restore needs")
	if err != nil {
		return
	}
	m.lostErasures.Store(int64(lost))
	if lost > 0 {
		m.logger.Warn(lostWarning(lost))
	}
}

func (m *maintenance) round(ctx context.Context, s *service.Service) {
	m.warn(ctx, m.privacy().FinishErasures(ctx), "an erasure that was interrupted is not finished yet")
	if time.Since(m.erasuresCopied) >= copyPause || m.lostErasures.Load() > 0 {
		m.copy(ctx, s)
	}
	m.compareClocks(ctx, s)
}

// warn logs an error, unless the server ends.
func (m *maintenance) warn(ctx context.Context, err error, text string) {
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		m.logger.Warn(text, "error", oneLine(err))
	}
}

// compareClocks warns if the clocks of this computer and of the database differ, or if the times of the database are
// ahead of both.
func (m *maintenance) compareClocks(ctx context.Context, s *service.Service) {
	ahead, err := s.Store().ClockAhead(ctx)
	if err == nil && ahead.Abs() > maxClockSkew {
		m.logger.Warn("this computer's clock and the database's differ; correct one of them",
			"database ahead by", ahead.Round(time.Millisecond).String())
	}
	warning, err := timesAheadWarning(ctx, s)
	if err == nil && warning != "" {
		m.logger.Warn(warning)
	}
}
