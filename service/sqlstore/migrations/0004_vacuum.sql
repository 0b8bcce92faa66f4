-- A take begins at the first call of the queue, and passes over those that were there before: they
-- are cleared away when some hundreds have gathered, however long the queue is.

--postgres ALTER TABLE queue_calls SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
