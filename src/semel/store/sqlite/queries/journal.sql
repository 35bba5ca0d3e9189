-- The journal's queries by name. An epoch is one claim's for ever, so "the claim's row is there" is the whole fence. Rows
-- carry it each, which costs 5 % of a batch and leaves no gap: a takeover is a write to this file too.

-- name: append
INSERT INTO semel_records (run, body, path, kind, data, awaited, started_at, finished_at, delivery)
SELECT number, ?, ?, ?, ?, ?, ?, ?, ? FROM semel_claims WHERE epoch = ?
ON CONFLICT (run, body, path) DO NOTHING;

-- name: append_note
INSERT INTO semel_notes (run, path, kind, text, at)
SELECT ?, ?, ?, ?, ? FROM semel_claims WHERE epoch = ?;

-- name: retract
DELETE FROM semel_records WHERE run = (SELECT number FROM semel_claims WHERE epoch = ?) AND path = ?;

-- name: note
INSERT INTO semel_notes (run, path, kind, text, at) VALUES (?, ?, ?, ?, ?);

-- name: records
SELECT u.uid, r.body, r.path, r.kind, r.data, r.awaited, r.started_at, r.finished_at, r.delivery
FROM semel_runs AS u JOIN semel_records AS r ON r.run = u.number WHERE u.uid = ? ORDER BY r.seq;

-- name: records_of_body
SELECT u.uid, r.body, r.path, r.kind, r.data, r.awaited, r.started_at, r.finished_at, r.delivery
FROM semel_runs AS u JOIN semel_records AS r ON r.run = u.number WHERE u.uid = ? AND r.body = ? ORDER BY r.seq;

-- name: bodies
SELECT DISTINCT r.body FROM semel_runs AS u JOIN semel_records AS r ON r.run = u.number WHERE u.uid = ?;

-- name: notes
SELECT run, path, kind, text, at FROM semel_notes WHERE run = ? ORDER BY seq;

-- name: forget
DELETE FROM semel_records WHERE run = (SELECT number FROM semel_runs WHERE uid = ?) AND path = ?;

-- name: forget_body
DELETE FROM semel_records WHERE run = (SELECT number FROM semel_runs WHERE uid = ?) AND body = ?;

-- name: know
INSERT INTO semel_runs (uid) VALUES (?) ON CONFLICT (uid) DO NOTHING;

-- name: begin
INSERT INTO semel_runs (uid, began_at) VALUES (?, ?)
ON CONFLICT (uid) DO UPDATE SET began_at = excluded.began_at WHERE began_at IS NULL;

-- name: state
INSERT INTO semel_records (run, body, path, kind, data, awaited, started_at, finished_at, delivery)
VALUES ((SELECT number FROM semel_runs WHERE uid = ?), ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run, body, path) DO UPDATE SET
    kind = excluded.kind, data = excluded.data, awaited = excluded.awaited, started_at = excluded.started_at,
    finished_at = excluded.finished_at, delivery = excluded.delivery;

-- name: register
INSERT INTO semel_owners (owner, lease_until) VALUES (?, ?)
ON CONFLICT (owner) DO UPDATE SET lease_until = excluded.lease_until;

-- name: renew
UPDATE semel_owners SET lease_until = ? WHERE owner = ?;

-- name: owners
SELECT owner, lease_until FROM semel_owners;

-- name: is_owner
SELECT 1 FROM semel_owners WHERE owner = ?;

-- name: remove_owner
DELETE FROM semel_owners WHERE owner = ?;

-- name: claims_of
SELECT epoch, run FROM semel_claims WHERE owner = ?;

-- name: remove_claims_of
DELETE FROM semel_claims WHERE owner = ?;

-- name: blind
UPDATE semel_runs SET blind = 1, begun = 1 WHERE number IN (SELECT number FROM semel_claims WHERE owner = ?);

-- name: begun
UPDATE semel_runs SET begun = 1 WHERE uid IN (SELECT value FROM json_each(?));

-- name: not_begun
UPDATE semel_runs SET begun = 0 WHERE uid = ?;

-- name: deaths
SELECT u.uid, u.begun, coalesce((SELECT max(r.seq) FROM semel_records AS r WHERE r.run = u.number), 0)
FROM semel_runs AS u WHERE u.uid IN (SELECT value FROM json_each(?));

-- name: known
SELECT uid, blind, began_at FROM semel_runs WHERE uid IN (SELECT value FROM json_each(?));

-- name: note_in_flight
INSERT INTO semel_notes (run, path, kind, text, at)
SELECT run, path, 'possibly doubled', text, at FROM (SELECT ? AS run, ? AS path, ? AS text, ? AS at) AS new
WHERE NOT EXISTS (
    SELECT 1 FROM semel_runs AS u JOIN semel_records AS r ON r.run = u.number WHERE u.uid = new.run AND r.path = new.path
);

-- name: claims_on
SELECT c.run, c.epoch, o.owner IS NOT NULL
FROM semel_claims AS c LEFT JOIN semel_owners AS o ON o.owner = c.owner
WHERE c.run IN (SELECT value FROM json_each(?));

-- name: live_claims
SELECT c.run, c.owner FROM semel_claims AS c JOIN semel_owners AS o ON o.owner = c.owner WHERE o.lease_until > ?;

-- name: live_claim_on
SELECT c.run, c.owner FROM semel_claims AS c JOIN semel_owners AS o ON o.owner = c.owner
WHERE c.run = ? AND o.lease_until > ?;

-- name: holds
SELECT 1 FROM semel_claims WHERE epoch = ?;

-- name: claim
INSERT INTO semel_claims (run, number, owner) SELECT uid, number, ? FROM semel_runs WHERE uid = ?;

-- name: end_claim
DELETE FROM semel_claims WHERE epoch = ?;

-- name: end_claims_on
DELETE FROM semel_claims WHERE run = ?;

-- name: purge_records
DELETE FROM semel_records
WHERE run IN (SELECT number FROM semel_runs WHERE uid IN (SELECT value FROM json_each(?)));

-- name: purge_runs
DELETE FROM semel_runs WHERE uid IN (SELECT value FROM json_each(?));

-- name: purge_notes
DELETE FROM semel_notes WHERE run IN (SELECT value FROM json_each(?));

-- name: purge_claims
DELETE FROM semel_claims WHERE run IN (SELECT value FROM json_each(?));

-- name: rewinds
SELECT value FROM semel_meta WHERE name = 'rewinds';

-- name: rewind
UPDATE semel_meta SET value = value + 1 WHERE name = 'rewinds';

-- name: used
SELECT EXISTS (SELECT 1 FROM semel_runs) OR EXISTS (SELECT 1 FROM semel_records)
    OR EXISTS (SELECT 1 FROM semel_notes) OR EXISTS (SELECT 1 FROM semel_owners) OR EXISTS (SELECT 1 FROM semel_claims);
