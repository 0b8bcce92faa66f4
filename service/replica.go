package service

import "context"

// fromReplicaKey marks a context of what only reads.
type fromReplicaKey struct{}

// FromReplica lets a store answer what is read under a context from a replica that has all that was
// changed before. Spec gap: S54.
func FromReplica(ctx context.Context) context.Context {
	return context.WithValue(ctx, fromReplicaKey{}, true)
}

// MayComeFromReplica reports whether FromReplica marked a context.
func MayComeFromReplica(ctx context.Context) bool { return ctx.Value(fromReplicaKey{}) != nil }

// Position is how far the log of the database is that has just kept a change; empty where nothing is
// read from replicas.
func (s *Service) Position(ctx context.Context) (string, error) { return s.store.LogPosition(ctx) }
