-- calls, 1 values
SELECT * FROM calls t ORDER BY t.requested_at DESC, t.uuid DESC LIMIT $1 + 0

-- calls of nobody, 1 values
SELECT * FROM calls t WHERE 1 = 0 ORDER BY t.requested_at DESC, t.uuid DESC LIMIT $1 + 0

-- calls of one, 2 values
SELECT * FROM calls t WHERE t.owner = $1 ORDER BY t.requested_at DESC, t.uuid DESC LIMIT $2 + 0

-- calls of two, below, 5 values
SELECT * FROM (SELECT k.number, k.uuid, k.requested_at FROM (SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.owner = $1 AND (t.requested_at, t.uuid) < ($3, $4) ORDER BY t.requested_at DESC, t.uuid DESC LIMIT $5 + 0) b0 UNION ALL SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.owner = $2 AND (t.requested_at, t.uuid) < ($3, $4) ORDER BY t.requested_at DESC, t.uuid DESC LIMIT $5 + 0) b1) k ORDER BY k.requested_at DESC, k.uuid DESC LIMIT $5 + 0) f JOIN calls t ON t.number = f.number AND t.requested_at = f.requested_at ORDER BY t.requested_at DESC, t.uuid DESC

-- calls of 16, above and backward, 19 values
SELECT * FROM (SELECT k.number, k.uuid, k.requested_at FROM (SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.owner = $1 AND (t.requested_at, t.uuid) > ($17, $18) ORDER BY t.requested_at, t.uuid LIMIT $19 + 0) b0 UNION ALL SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.owner = $2 AND (t.requested_at, t.uuid) > ($17, $18) ORDER BY t.requested_at, t.uuid LIMIT $19 + 0) b1 UNION ALL SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.owner = $3 AND (t.requested_at, t.uuid) > ($17, $18) ORDER BY t.requested_at, t.uuid LIMIT $19 + 0) b2 UNION ALL SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.owner = $4 AND (t.requested_at, t.uuid) > ($17, $18) ORDER BY t.requested_at, t.uuid LIMIT $19 + 0) b3 UNION ALL SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.owner = $5 AND (t.requested_at, t.uuid) > ($17, $18) ORDER BY t.requested_at, t.uuid LIMIT $19 + 0) b4 UNION ALL SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.owner = $6 AND (t.requested_at, t.uuid) > ($17, $18) ORDER BY t.requested_at, t.uuid LIMIT $19 + 0) b5 UNION ALL SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.owner = $7 AND (t.requested_at, t.uuid) > ($17, $18) ORDER BY t.requested_at, t.uuid LIMIT $19 + 0) b6 UNION ALL SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.owner = $8 AND (t.requested_at, t.uuid) > ($17, $18) ORDER BY t.requested_at, t.uuid LIMIT $19 + 0) b7 UNION ALL SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.owner = $9 AND (t.requested_at, t.uuid) > ($17, $18) ORDER BY t.requested_at, t.uuid LIMIT $19 + 0) b8 UNION ALL SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.owner = $10 AND (t.requested_at, t.uuid) > ($17, $18) ORDER BY t.requested_at, t.uuid LIMIT $19 + 0) b9 UNION ALL SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.owner = $11 AND (t.requested_at, t.uuid) > ($17, $18) ORDER BY t.requested_at, t.uuid LIMIT $19 + 0) b10 UNION ALL SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.owner = $12 AND (t.requested_at, t.uuid) > ($17, $18) ORDER BY t.requested_at, t.uuid LIMIT $19 + 0) b11 UNION ALL SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.owner = $13 AND (t.requested_at, t.uuid) > ($17, $18) ORDER BY t.requested_at, t.uuid LIMIT $19 + 0) b12 UNION ALL SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.owner = $14 AND (t.requested_at, t.uuid) > ($17, $18) ORDER BY t.requested_at, t.uuid LIMIT $19 + 0) b13 UNION ALL SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.owner = $15 AND (t.requested_at, t.uuid) > ($17, $18) ORDER BY t.requested_at, t.uuid LIMIT $19 + 0) b14 UNION ALL SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.owner = $16 AND (t.requested_at, t.uuid) > ($17, $18) ORDER BY t.requested_at, t.uuid LIMIT $19 + 0) b15) k ORDER BY k.requested_at, k.uuid LIMIT $19 + 0) f JOIN calls t ON t.number = f.number AND t.requested_at = f.requested_at ORDER BY t.requested_at, t.uuid

-- calls of 17, between, 22 values
SELECT * FROM (SELECT t.number, t.requested_at FROM calls t WHERE (t.requested_at, t.uuid) > ($18, $19) AND (t.requested_at, t.uuid) <= ($20, $21) AND (t.owner IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)) IS TRUE ORDER BY t.requested_at DESC, t.uuid DESC LIMIT $22 + 0) f JOIN calls t ON t.number = f.number AND t.requested_at = f.requested_at ORDER BY t.requested_at DESC, t.uuid DESC

-- by reference, 4 values
SELECT * FROM (SELECT t.number, t.requested_at FROM calls t WHERE t.external_application = $2 AND t.external_reference = $3 AND ((t.owner = $1)) IS TRUE ORDER BY t.requested_at DESC, t.uuid DESC LIMIT $4 + 0) f JOIN calls t ON t.number = f.number AND t.requested_at = f.requested_at ORDER BY t.requested_at DESC, t.uuid DESC

-- by a long reference and status, 4 values
SELECT * FROM (SELECT t.number, t.requested_at FROM calls t WHERE t.external_application = $1 AND t.external_reference = $2 AND (t.external_status = $3) IS TRUE ORDER BY t.requested_at DESC, t.uuid DESC LIMIT $4 + 0) f JOIN calls t ON t.number = f.number AND t.requested_at = f.requested_at ORDER BY t.requested_at DESC, t.uuid DESC

-- without reference, by two statuses, 3 values
SELECT * FROM (SELECT t.number, t.requested_at FROM calls t WHERE t.external_application IS NULL AND t.external_reference IS NULL AND (t.status = $1 OR t.status = $2) IS TRUE ORDER BY t.requested_at DESC, t.uuid DESC LIMIT $3 + 0) f JOIN calls t ON t.number = f.number AND t.requested_at = f.requested_at ORDER BY t.requested_at DESC, t.uuid DESC

-- by a status of theirs, 3 values
SELECT * FROM calls t WHERE t.owner = $1 AND t.external_status = $2 ORDER BY t.requested_at DESC, t.uuid DESC LIMIT $3 + 0

-- by status, 3 values
SELECT * FROM (SELECT t.number, t.requested_at FROM calls t WHERE t.status = $2 AND ((t.owner = $1)) IS TRUE ORDER BY t.requested_at DESC, t.uuid DESC LIMIT $3 + 0) f JOIN calls t ON t.number = f.number AND t.requested_at = f.requested_at ORDER BY t.requested_at DESC, t.uuid DESC

-- by both statuses, 3 values
SELECT * FROM (SELECT t.number, t.requested_at FROM calls t WHERE t.external_status = $1 AND (t.status = $2) IS TRUE ORDER BY t.requested_at DESC, t.uuid DESC LIMIT $3 + 0) f JOIN calls t ON t.number = f.number AND t.requested_at = f.requested_at ORDER BY t.requested_at DESC, t.uuid DESC

-- by when they were requested, 4 values
SELECT * FROM calls t WHERE t.requested_at >= $1 AND t.requested_at <= $2 AND t.requested_at > $3 ORDER BY t.requested_at DESC, t.uuid DESC LIMIT $4 + 0

-- updated, 3 values
SELECT * FROM (SELECT k.number, k.uuid, k.requested_at FROM (SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE t.external_application IS NULL AND t.external_reference IS NULL AND t.updated_at > $2 AND ((t.owner = $1)) IS TRUE ORDER BY +t.requested_at DESC, t.uuid DESC LIMIT $3 + 0) b0 UNION ALL SELECT number, uuid, requested_at FROM (SELECT t.number, t.uuid, t.requested_at FROM calls t WHERE (t.external_application IS NOT NULL OR t.external_reference IS NOT NULL) AND t.updated_at > $2 AND ((t.owner = $1)) IS TRUE ORDER BY +t.requested_at DESC, t.uuid DESC LIMIT $3 + 0) b1) k ORDER BY +k.requested_at DESC, k.uuid DESC LIMIT $3 + 0) f JOIN calls t ON t.number = f.number AND t.requested_at = f.requested_at ORDER BY t.requested_at DESC, t.uuid DESC

-- updated, by reference, 4 values
SELECT * FROM (SELECT t.number, t.requested_at FROM calls t WHERE (t.external_application IS NOT NULL OR t.external_reference IS NOT NULL) AND t.updated_at > $3 AND (t.external_application = $1) IS TRUE AND (t.external_reference = $2) IS TRUE ORDER BY +t.requested_at, t.uuid LIMIT $4 + 0) f JOIN calls t ON t.number = f.number AND t.requested_at = f.requested_at ORDER BY t.requested_at, t.uuid

-- of a person, updated, by status, 6 values
SELECT * FROM (SELECT t.number, t.requested_at FROM calls t WHERE t.person_number = (SELECT number FROM persons WHERE uuid = $5) AND ((t.owner = $1)) IS TRUE AND (t.updated_at > $4) IS TRUE AND ((t.status = $2) OR (t.status = $3)) IS TRUE ORDER BY t.requested_at DESC, t.uuid DESC LIMIT $6 + 0) f JOIN calls t ON t.number = f.number AND t.requested_at = f.requested_at ORDER BY t.requested_at DESC, t.uuid DESC

-- of a user, requested, by reference, 6 values
SELECT * FROM (SELECT t.number, t.requested_at FROM calls t WHERE t.completed_by = $4 AND t.requested_at > $5 AND ((t.owner = $1)) IS TRUE AND (t.external_application = $2) IS TRUE AND (t.external_reference = $3) IS TRUE ORDER BY t.requested_at DESC, t.uuid DESC LIMIT $6 + 0) f JOIN calls t ON t.number = f.number AND t.requested_at = f.requested_at ORDER BY t.requested_at DESC, t.uuid DESC

-- of a user, updated, by status, 5 values
SELECT * FROM (SELECT t.number, t.requested_at FROM calls t WHERE t.completed_by = $4 AND ((t.owner = $1)) IS TRUE AND (t.updated_at > $3) IS TRUE AND ((t.status = $2)) IS TRUE ORDER BY t.requested_at DESC, t.uuid DESC LIMIT $5 + 0) f JOIN calls t ON t.number = f.number AND t.requested_at = f.requested_at ORDER BY t.requested_at DESC, t.uuid DESC

-- of a person and a user, 3 values
SELECT * FROM (SELECT t.number, t.requested_at FROM calls t WHERE t.person_number = (SELECT number FROM persons WHERE uuid = $2) AND (t.completed_by = $1) IS TRUE ORDER BY t.requested_at DESC, t.uuid DESC LIMIT $3 + 0) f JOIN calls t ON t.number = f.number AND t.requested_at = f.requested_at ORDER BY t.requested_at DESC, t.uuid DESC

-- updated, without reference, 2 values
SELECT * FROM (SELECT t.number, t.requested_at FROM calls t WHERE t.external_application IS NULL AND t.external_reference IS NULL AND t.updated_at > $1 ORDER BY +t.requested_at DESC, t.uuid DESC LIMIT $2 + 0) f JOIN calls t ON t.number = f.number AND t.requested_at = f.requested_at ORDER BY t.requested_at DESC, t.uuid DESC

-- pledges, 1 values
SELECT * FROM pledges t ORDER BY t.created_at DESC, t.uuid DESC LIMIT $1 + 0

-- pledges of two, 3 values
SELECT * FROM (SELECT k.number, k.uuid, k.created_at FROM (SELECT number, uuid, created_at FROM (SELECT t.number, t.uuid, t.created_at FROM pledges t WHERE t.owner = $1 ORDER BY t.created_at DESC, t.uuid DESC LIMIT $3 + 0) b0 UNION ALL SELECT number, uuid, created_at FROM (SELECT t.number, t.uuid, t.created_at FROM pledges t WHERE CASE WHEN t.recruiting <> t.owner THEN t.recruiting END = $1 AND (t.owner NOT IN ($1, $2)) IS TRUE ORDER BY t.created_at DESC, t.uuid DESC LIMIT $3 + 0) b1 UNION ALL SELECT number, uuid, created_at FROM (SELECT t.number, t.uuid, t.created_at FROM pledges t WHERE t.owner = $2 ORDER BY t.created_at DESC, t.uuid DESC LIMIT $3 + 0) b2 UNION ALL SELECT number, uuid, created_at FROM (SELECT t.number, t.uuid, t.created_at FROM pledges t WHERE CASE WHEN t.recruiting <> t.owner THEN t.recruiting END = $2 AND (t.owner NOT IN ($1, $2)) IS TRUE ORDER BY t.created_at DESC, t.uuid DESC LIMIT $3 + 0) b3) k ORDER BY k.created_at DESC, k.uuid DESC LIMIT $3 + 0) f JOIN pledges t ON t.number = f.number AND t.created_at = f.created_at ORDER BY t.created_at DESC, t.uuid DESC

-- pledges of 17, 18 values
SELECT * FROM (SELECT t.number, t.created_at FROM pledges t WHERE (t.owner IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) OR t.recruiting IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)) IS TRUE ORDER BY t.created_at DESC, t.uuid DESC LIMIT $18 + 0) f JOIN pledges t ON t.number = f.number AND t.created_at = f.created_at ORDER BY t.created_at DESC, t.uuid DESC

-- pledges of a person, by status, 5 values
SELECT * FROM (SELECT t.number, t.created_at FROM pledges t WHERE t.person_number = (SELECT number FROM persons WHERE uuid = $2 AND (owner IN ($3) OR erased_owner IN ($3))) AND ((t.owner = $1) OR (CASE WHEN t.recruiting <> t.owner THEN t.recruiting END = $1 AND (t.owner NOT IN ($1)) IS TRUE)) IS TRUE AND (t.status = $4) IS TRUE ORDER BY t.created_at DESC, t.uuid DESC LIMIT $5 + 0) f JOIN pledges t ON t.number = f.number AND t.created_at = f.created_at ORDER BY t.created_at DESC, t.uuid DESC

-- pledges by status, 2 values
SELECT * FROM pledges t WHERE t.status = $1 ORDER BY t.created_at DESC, t.uuid DESC LIMIT $2 + 0

-- pledges of one, by status, 3 values
SELECT * FROM (SELECT k.number, k.uuid, k.created_at FROM (SELECT number, uuid, created_at FROM (SELECT t.number, t.uuid, t.created_at FROM pledges t WHERE t.owner = $1 AND (t.status = $2) IS TRUE ORDER BY t.created_at DESC, t.uuid DESC LIMIT $3 + 0) b0 UNION ALL SELECT number, uuid, created_at FROM (SELECT t.number, t.uuid, t.created_at FROM pledges t WHERE CASE WHEN t.recruiting <> t.owner THEN t.recruiting END = $1 AND (t.owner NOT IN ($1)) IS TRUE AND (t.status = $2) IS TRUE ORDER BY t.created_at DESC, t.uuid DESC LIMIT $3 + 0) b1) k ORDER BY k.created_at DESC, k.uuid DESC LIMIT $3 + 0) f JOIN pledges t ON t.number = f.number AND t.created_at = f.created_at ORDER BY t.created_at DESC, t.uuid DESC

-- pledges with a code, 2 values
SELECT * FROM pledges t WHERE t.payment_qr = $1 ORDER BY t.created_at DESC, t.uuid DESC LIMIT $2 + 0

-- pledges without a code, by status, 3 values
SELECT * FROM (SELECT t.number, t.created_at FROM pledges t WHERE t.status = $1 AND (t.payment_qr = $2) IS TRUE ORDER BY t.created_at DESC, t.uuid DESC LIMIT $3 + 0) f JOIN pledges t ON t.number = f.number AND t.created_at = f.created_at ORDER BY t.created_at DESC, t.uuid DESC

-- pledges updated, 2 values
SELECT * FROM (SELECT t.number, t.created_at FROM pledges t WHERE t.updated_at > $1 ORDER BY +t.created_at DESC, t.uuid DESC LIMIT $2 + 0) f JOIN pledges t ON t.number = f.number AND t.created_at = f.created_at ORDER BY t.created_at DESC, t.uuid DESC

-- pledges released, 3 values
SELECT * FROM (SELECT t.number, t.created_at FROM pledges t WHERE t.released_at > $2 AND (t.external = 1 OR t.released_at <= $1) IS TRUE ORDER BY +t.created_at DESC, t.uuid DESC LIMIT $3 + 0) f JOIN pledges t ON t.number = f.number AND t.created_at = f.created_at ORDER BY t.created_at DESC, t.uuid DESC

-- pledges released and updated, 5 values
SELECT * FROM (SELECT t.number, t.created_at FROM pledges t WHERE t.released_at > $4 AND (t.external = 1 OR t.released_at <= $2) IS TRUE AND (t.updated_at > $3) IS TRUE AND ((t.owner = $1) OR (CASE WHEN t.recruiting <> t.owner THEN t.recruiting END = $1 AND (t.owner NOT IN ($1)) IS TRUE)) IS TRUE ORDER BY +t.created_at DESC, t.uuid DESC LIMIT $5 + 0) f JOIN pledges t ON t.number = f.number AND t.created_at = f.created_at ORDER BY t.created_at DESC, t.uuid DESC

-- persons, 1 values
SELECT * FROM persons t WHERE t.erased_at IS NULL ORDER BY t.created_at DESC, t.uuid DESC LIMIT $1 + 0

-- persons of two, 3 values
SELECT * FROM (SELECT k.number, k.uuid, k.created_at FROM (SELECT number, uuid, created_at FROM (SELECT t.number, t.uuid, t.created_at FROM persons t WHERE t.owner = $1 ORDER BY t.created_at DESC, t.uuid DESC LIMIT $3 + 0) b0 UNION ALL SELECT number, uuid, created_at FROM (SELECT t.number, t.uuid, t.created_at FROM persons t WHERE t.owner = $2 ORDER BY t.created_at DESC, t.uuid DESC LIMIT $3 + 0) b1) k ORDER BY k.created_at DESC, k.uuid DESC LIMIT $3 + 0) f JOIN persons t ON t.number = f.number AND t.created_at = f.created_at ORDER BY t.created_at DESC, t.uuid DESC

-- persons by IBAN, made after, 1 values
SELECT * FROM persons t WHERE t.number = 0 ORDER BY t.created_at DESC, t.uuid DESC LIMIT $1 + 0

-- persons changed after, 4 values
SELECT * FROM (SELECT t.number, t.created_at FROM persons t WHERE t.erased_at IS NULL AND t.updated_at > $3 AND ((t.owner = $1) OR (t.owner = $2)) IS TRUE ORDER BY +t.created_at DESC, t.uuid DESC LIMIT $4 + 0) f JOIN persons t ON t.number = f.number AND t.created_at = f.created_at ORDER BY t.created_at DESC, t.uuid DESC

