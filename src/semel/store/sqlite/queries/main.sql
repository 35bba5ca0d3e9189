-- The main database's queries by name. `+status` keeps the planner from walking all pending runs where uids are given.

-- name: start
INSERT INTO semel_runs (uid, id, workflow, status, args, seed, format, created_at)
SELECT ?, ?, ?, 'pending', ?, ?, ?, ?
WHERE NOT EXISTS (SELECT 1 FROM semel_tombstones WHERE id = ?)
ON CONFLICT (id) DO NOTHING;

-- name: by_id
SELECT uid, id, workflow, status, args, seed, format, version, visits, created_at, started_at, finished_at, result,
    error, fault, kills
FROM semel_runs WHERE id = ?;

-- name: pending_of
SELECT uid, id, workflow, status, args, seed, format, version, visits, created_at, started_at, finished_at, result,
    error, fault, kills
FROM semel_runs WHERE uid IN (SELECT value FROM json_each(?)) AND +status = 'pending' ORDER BY seq;

-- name: list
SELECT uid, id, workflow, status, args, seed, format, version, visits, created_at, started_at, finished_at, result,
    error, fault, kills
FROM semel_runs
WHERE {conditions}
ORDER BY created_at DESC, seq DESC LIMIT ?;

-- name: candidates
SELECT seq, uid FROM semel_runs WHERE status = 'pending' AND workflow = ? AND seq > ? ORDER BY seq LIMIT ?;

-- name: status_of
SELECT status FROM semel_runs WHERE uid = ?;

-- name: counts
SELECT status, count(*) FROM semel_runs GROUP BY status;

-- name: still_pending
SELECT uid FROM semel_runs WHERE +status = 'pending' AND uid IN (SELECT value FROM json_each(?));

-- name: finish
UPDATE semel_runs SET
    status = ?, visits = ?, result = ?, error = ?, fault = ?, started_at = ?, finished_at = ?, version = version + 1
WHERE uid = ? AND version = ? AND status = 'pending';

-- name: take
UPDATE semel_runs SET
    version = version + 1, kills = CASE WHEN reached < ? THEN 0 ELSE kills END + ?, reached = ?, taken = ?
WHERE uid = ? AND status = 'pending' AND taken < ?;

-- name: redeliver
UPDATE semel_runs SET
    status = 'pending', result = NULL, error = NULL, fault = NULL, started_at = NULL, finished_at = NULL,
    version = version + 1, kills = 0
WHERE uid = ? AND status = 'faulted' AND NOT EXISTS (SELECT 1 FROM semel_tombstones WHERE id = semel_runs.id);

-- name: note
INSERT INTO semel_notes (run, path, kind, text, at) VALUES (?, ?, ?, ?, ?);

-- name: notes
SELECT run, path, kind, text, at FROM semel_notes WHERE run = ? ORDER BY seq;

-- name: ended
SELECT uid FROM semel_runs WHERE finished_at < ? ORDER BY finished_at LIMIT ?;

-- name: bury
INSERT INTO semel_tombstones (id, uid)
SELECT id, uid FROM semel_runs
WHERE uid IN (SELECT value FROM json_each(?)) AND status <> 'pending'
ON CONFLICT (id) DO NOTHING;

-- name: purge_runs
DELETE FROM semel_runs WHERE uid IN (SELECT value FROM json_each(?));

-- name: purge_notes
DELETE FROM semel_notes WHERE run IN (SELECT value FROM json_each(?));

-- name: rewinds
SELECT value FROM semel_meta WHERE name = 'rewinds';

-- name: rewind
UPDATE semel_meta SET value = value + 1 WHERE name = 'rewinds';

-- name: namespace
SELECT value FROM semel_meta WHERE name = 'namespace';
