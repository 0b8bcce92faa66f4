SELECT c.call_uuid, c.person_uuid, c.owner, c.type, c.language, c.requested_at, c.attempts, c.external, c.opted_out, c.due_at, c.kept_for, c.eligible_at, c.ready, c.note, c.opted_in, c.country, c.ended_at, c.blocked_by, c.due_reason,
		(SELECT CASE WHEN d.contacted_at = d.rested_at THEN d.contacted_before ELSE d.contacted_at END
			FROM donors d WHERE d.person_uuid = c.person_uuid),
		(SELECT d.rested_until FROM donors d WHERE d.person_uuid = c.person_uuid),
		(SELECT o.max_call_attempts FROM organizations o WHERE o.uuid = c.owner),
		(SELECT d.expires_at FROM donors d WHERE d.person_uuid = c.person_uuid AND d.lease_uuid IS NOT NULL)
	, (SELECT p.doc FROM persons p WHERE p.uuid = c.person_uuid) FROM (SELECT * FROM queue_calls WHERE (kept_for IS NULL OR kept_for = $1 OR due_at <= $2) AND call_number IN (SELECT k.number FROM ended_leases r JOIN calls k ON k.uuid = r.call_uuid
		WHERE r.user_uuid = $3
		AND r.ended_at > $4 AND r.ended_by = 'returned') AND eligible_at <= $5 ORDER BY requested_at, call_uuid LIMIT 3) AS c ORDER BY requested_at, call_uuid

SELECT c.call_uuid, c.person_uuid, c.owner, c.type, c.language, c.requested_at, c.attempts, c.external, c.opted_out, c.due_at, c.kept_for, c.eligible_at, c.ready, c.note, c.opted_in, c.country, c.ended_at, c.blocked_by, c.due_reason,
		(SELECT CASE WHEN d.contacted_at = d.rested_at THEN d.contacted_before ELSE d.contacted_at END
			FROM donors d WHERE d.person_uuid = c.person_uuid),
		(SELECT d.rested_until FROM donors d WHERE d.person_uuid = c.person_uuid),
		(SELECT o.max_call_attempts FROM organizations o WHERE o.uuid = c.owner),
		(SELECT d.expires_at FROM donors d WHERE d.person_uuid = c.person_uuid AND d.lease_uuid IS NOT NULL)
	, (SELECT p.doc FROM persons p WHERE p.uuid = c.person_uuid) FROM (SELECT * FROM queue_calls WHERE ready = 1 AND due_at IS NOT NULL AND (kept_for IS NULL OR (kept_for <> $2 AND due_at <= $1)) AND NOT call_number IN (SELECT k.number FROM ended_leases r JOIN calls k ON k.uuid = r.call_uuid
		WHERE r.user_uuid = $3
		AND r.ended_at > $4 AND r.ended_by = 'returned') AND eligible_at <= $5 ORDER BY due_at, call_uuid LIMIT 3) AS c ORDER BY due_at, call_uuid

SELECT c.call_uuid, c.person_uuid, c.owner, c.type, c.language, c.requested_at, c.attempts, c.external, c.opted_out, c.due_at, c.kept_for, c.eligible_at, c.ready, c.note, c.opted_in, c.country, c.ended_at, c.blocked_by, c.due_reason,
		(SELECT CASE WHEN d.contacted_at = d.rested_at THEN d.contacted_before ELSE d.contacted_at END
			FROM donors d WHERE d.person_uuid = c.person_uuid),
		(SELECT d.rested_until FROM donors d WHERE d.person_uuid = c.person_uuid),
		(SELECT o.max_call_attempts FROM organizations o WHERE o.uuid = c.owner),
		(SELECT d.expires_at FROM donors d WHERE d.person_uuid = c.person_uuid AND d.lease_uuid IS NOT NULL)
	, (SELECT p.doc FROM persons p WHERE p.uuid = c.person_uuid) FROM (SELECT * FROM queue_calls WHERE ready = 1 AND due_at IS NOT NULL AND kept_for = $1 AND NOT call_number IN (SELECT k.number FROM ended_leases r JOIN calls k ON k.uuid = r.call_uuid
		WHERE r.user_uuid = $2
		AND r.ended_at > $3 AND r.ended_by = 'returned') AND eligible_at <= $4 ORDER BY due_at, call_uuid LIMIT 3) AS c ORDER BY due_at, call_uuid

SELECT c.call_uuid, c.person_uuid, c.owner, c.type, c.language, c.requested_at, c.attempts, c.external, c.opted_out, c.due_at, c.kept_for, c.eligible_at, c.ready, c.note, c.opted_in, c.country, c.ended_at, c.blocked_by, c.due_reason,
		(SELECT CASE WHEN d.contacted_at = d.rested_at THEN d.contacted_before ELSE d.contacted_at END
			FROM donors d WHERE d.person_uuid = c.person_uuid),
		(SELECT d.rested_until FROM donors d WHERE d.person_uuid = c.person_uuid),
		(SELECT o.max_call_attempts FROM organizations o WHERE o.uuid = c.owner),
		(SELECT d.expires_at FROM donors d WHERE d.person_uuid = c.person_uuid AND d.lease_uuid IS NOT NULL)
	, (SELECT p.doc FROM persons p WHERE p.uuid = c.person_uuid) FROM (SELECT * FROM queue_calls WHERE ready = 1 AND due_at IS NULL AND NOT call_number IN (SELECT k.number FROM ended_leases r JOIN calls k ON k.uuid = r.call_uuid
		WHERE r.user_uuid = $1
		AND r.ended_at > $2 AND r.ended_by = 'returned') AND eligible_at <= $3 ORDER BY requested_at, call_uuid LIMIT 3) AS c ORDER BY requested_at, call_uuid

SELECT position_rank, position_at, call_uuid FROM (SELECT * FROM (SELECT 0 AS position_rank, due_at AS position_at, call_uuid FROM queue_calls WHERE ready = 1 AND due_at IS NOT NULL AND kept_for = $1 AND NOT call_number IN (SELECT k.number FROM ended_leases r JOIN calls k ON k.uuid = r.call_uuid
		WHERE r.user_uuid = $2
		AND r.ended_at > $3 AND r.ended_by = 'returned') AND eligible_at <= $4
		ORDER BY due_at, call_uuid LIMIT $5) AS part0 UNION ALL SELECT * FROM (SELECT 1 AS position_rank, due_at AS position_at, call_uuid FROM queue_calls WHERE ready = 1 AND due_at IS NOT NULL AND (kept_for IS NULL OR (kept_for <> $7 AND due_at <= $6)) AND NOT call_number IN (SELECT k.number FROM ended_leases r JOIN calls k ON k.uuid = r.call_uuid
		WHERE r.user_uuid = $8
		AND r.ended_at > $9 AND r.ended_by = 'returned') AND eligible_at <= $10
		ORDER BY due_at, call_uuid LIMIT $11) AS part1 UNION ALL SELECT * FROM (SELECT 0 AS position_rank, due_at AS position_at, call_uuid FROM queue_calls WHERE ready = 0 AND due_at IS NOT NULL AND kept_for = $12 AND NOT call_number IN (SELECT k.number FROM ended_leases r JOIN calls k ON k.uuid = r.call_uuid
		WHERE r.user_uuid = $13
		AND r.ended_at > $14 AND r.ended_by = 'returned') AND eligible_at <= $15
		ORDER BY due_at, call_uuid LIMIT $16) AS part2 UNION ALL SELECT * FROM (SELECT 1 AS position_rank, due_at AS position_at, call_uuid FROM queue_calls WHERE ready = 0 AND due_at IS NOT NULL AND (kept_for IS NULL OR (kept_for <> $18 AND due_at <= $17)) AND NOT call_number IN (SELECT k.number FROM ended_leases r JOIN calls k ON k.uuid = r.call_uuid
		WHERE r.user_uuid = $19
		AND r.ended_at > $20 AND r.ended_by = 'returned') AND eligible_at <= $21
		ORDER BY due_at, call_uuid LIMIT $22) AS part3 UNION ALL SELECT * FROM (SELECT 2 AS position_rank, requested_at AS position_at, call_uuid FROM queue_calls WHERE ready = 1 AND due_at IS NULL AND NOT call_number IN (SELECT k.number FROM ended_leases r JOIN calls k ON k.uuid = r.call_uuid
		WHERE r.user_uuid = $23
		AND r.ended_at > $24 AND r.ended_by = 'returned') AND eligible_at <= $25
		ORDER BY requested_at, call_uuid LIMIT $26) AS part4 UNION ALL SELECT * FROM (SELECT 2 AS position_rank, requested_at AS position_at, call_uuid FROM queue_calls WHERE ready = 0 AND due_at IS NULL AND NOT call_number IN (SELECT k.number FROM ended_leases r JOIN calls k ON k.uuid = r.call_uuid
		WHERE r.user_uuid = $27
		AND r.ended_at > $28 AND r.ended_by = 'returned') AND eligible_at <= $29
		ORDER BY requested_at, call_uuid LIMIT $30) AS part5 UNION ALL SELECT * FROM (SELECT 3 AS position_rank, requested_at AS position_at, call_uuid FROM queue_calls WHERE (kept_for IS NULL OR kept_for = $31 OR due_at <= $32) AND call_number IN (SELECT k.number FROM ended_leases r JOIN calls k ON k.uuid = r.call_uuid
		WHERE r.user_uuid = $33
		AND r.ended_at > $34 AND r.ended_by = 'returned') AND eligible_at <= $35
		ORDER BY requested_at, call_uuid LIMIT $36) AS part6) AS positions ORDER BY position_rank, position_at, call_uuid LIMIT $37

