-- The main database's queries by name. `+status` keeps the planner from walking all pending runs where uids are given.

-- name: start
INSERT INTO semel_runs (
    turn, uid, id, workflow, status, args, seed, format, created_at, parent, depth, deadline, entity, flow
)
SELECT (SELECT coalesce(max(seq), 0) + 1 FROM semel_runs) << 32, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?
WHERE NOT EXISTS (SELECT 1 FROM semel_tombstones WHERE id = ?)
ON CONFLICT (id) DO NOTHING;

-- name: by_id
SELECT uid, id, workflow, status, args, seed, format, version, visits, created_at, started_at, finished_at, result,
    error, fault, parked, poked, parent, depth, ending, deadline, transactional, visit_args, entity,
    flow, kills
FROM semel_runs WHERE id = ?;

-- name: pending_of
SELECT uid, id, workflow, status, args, seed, format, version, visits, created_at, started_at, finished_at, result,
    error, fault, parked, poked, parent, depth, ending, deadline, transactional, visit_args, entity,
    flow, kills
FROM semel_runs WHERE uid IN (SELECT value FROM json_each(?)) AND +status = 'pending' ORDER BY turn;

-- name: list
SELECT uid, id, workflow, status, args, seed, format, version, visits, created_at, started_at, finished_at, result,
    error, fault, parked, poked, parent, depth, ending, deadline, transactional, visit_args, entity,
    flow, kills
FROM semel_runs
WHERE {conditions}
ORDER BY created_at DESC, seq DESC LIMIT ?;

-- name: candidates
SELECT turn, uid FROM semel_runs WHERE status = 'pending' AND workflow = ? AND turn > ? ORDER BY turn LIMIT ?;

-- name: status_of
SELECT status FROM semel_runs WHERE uid = ?;

-- name: in_hand
SELECT uid FROM semel_runs
WHERE uid IN (SELECT value FROM json_each(?)) AND (+status = 'pending' OR (+status = 'parked' AND flow IS NOT NULL));

-- name: of_entity
SELECT uid, id, workflow, status, args, seed, format, version, visits, created_at, started_at, finished_at, result,
    error, fault, parked, poked, parent, depth, ending, deadline, transactional, visit_args, entity,
    flow, kills
FROM semel_runs WHERE workflow = ? AND entity = ? ORDER BY seq DESC LIMIT 1;

-- name: leave_entity
UPDATE semel_runs SET entity = entity || '~' || uid WHERE uid = ?;

-- name: counts
SELECT status, count(*) FROM semel_runs GROUP BY status;

-- name: still_pending
SELECT uid FROM semel_runs WHERE +status = 'pending' AND uid IN (SELECT value FROM json_each(?));

-- name: finish
UPDATE semel_runs SET
    status = ?, visits = ?, result = ?, error = ?, fault = ?, started_at = ?, finished_at = ?, parked = ?,
    flow = coalesce(?, flow), version = version + 1
WHERE uid = ? AND version = ? AND status IN ('pending', 'parked') RETURNING poked;

-- name: park
UPDATE semel_runs SET
    status = CASE WHEN poked = ? THEN 'parked' ELSE 'pending' END, visits = ?, started_at = ?, parked = ?,
    children_left = ?, undos = ?, flow = coalesce(?, flow), fault = ?, version = version + 1, kills = 0
WHERE uid = ? AND version = ? AND status IN ('pending', 'parked');

-- name: next_visit
UPDATE semel_runs SET
    status = 'pending', visits = ?, started_at = ?, parked = ?, visit_args = coalesce(?, visit_args), undos = ?,
    flow = coalesce(?, flow), fault = ?, version = version + 1, kills = 0
WHERE uid = ? AND version = ? AND status IN ('pending', 'parked');

-- name: ended_of
SELECT count(*) FROM semel_runs WHERE uid IN (SELECT value FROM json_each(?)) AND +finished_at IS NOT NULL;

-- name: last_turn
UPDATE semel_meta SET value = value + ? WHERE name = 'woken'
RETURNING ((SELECT coalesce(max(seq), 0) FROM semel_runs) << 32) + value;

-- name: wake
UPDATE semel_runs SET status = 'pending', turn = ? WHERE uid = ? AND status = 'parked';

-- name: turn
UPDATE semel_runs SET turn = ? WHERE uid = ? AND status = 'pending';

-- name: child_ended
UPDATE semel_runs SET children_left = children_left - 1 WHERE uid = ? AND status = 'parked' AND children_left > 0
RETURNING children_left = 0;

-- name: set_due
INSERT INTO semel_due (run, kind, at) VALUES (?, ?, ?) ON CONFLICT (run, kind) DO UPDATE SET at = excluded.at;

-- name: restore_deadline
INSERT INTO semel_due (run, kind, at)
SELECT uid, 'deadline', deadline FROM semel_runs WHERE uid = ? AND deadline > ?
ON CONFLICT (run, kind) DO NOTHING;

-- name: clear_due
DELETE FROM semel_due WHERE run = ? AND kind = ?;

-- name: clear_all_due
DELETE FROM semel_due WHERE run = ?;

-- name: due
SELECT run, kind FROM semel_due WHERE at <= ? ORDER BY at LIMIT ?;

-- name: next_due
SELECT min(at) FROM semel_due;

-- name: send
INSERT INTO semel_events (run, name, payload, at)
SELECT uid, ?, ?, ? FROM semel_runs WHERE uid = ? AND finished_at IS NULL AND ending IS NULL;

-- name: poke
UPDATE semel_runs SET poked = poked + 1 WHERE uid = ? RETURNING status;

-- name: events
SELECT seq, run, name, payload, at FROM semel_events WHERE run = ? ORDER BY seq;

-- name: take_event
DELETE FROM semel_events WHERE seq = ? AND run = ?;

-- name: clear_events
DELETE FROM semel_events WHERE run = ?;

-- name: tree
WITH RECURSIVE tree (uid) AS (
    SELECT ? UNION ALL SELECT r.uid FROM semel_runs AS r JOIN tree AS t ON r.parent = t.uid
)
SELECT r.uid, r.status, r.undos, r.parent, r.ending FROM tree AS t JOIN semel_runs AS r ON r.uid = t.uid
WHERE r.finished_at IS NULL;

-- name: end_parked
UPDATE semel_runs SET
    status = ?, finished_at = ?, ending = ?, version = version + 1
WHERE uid = ? AND status = 'parked';

-- name: end_pending
UPDATE semel_runs SET
    status = ?, finished_at = ?, ending = ?, version = version + 1
WHERE uid = ? AND status = 'pending';

-- name: set_ending
UPDATE semel_runs SET ending = ?, version = version + 1, poked = poked + 1 WHERE uid = ? AND ending IS NULL;

-- name: ending
SELECT uid FROM semel_runs WHERE ending IS NOT NULL AND status = 'pending';

-- name: children
SELECT uid, id, workflow, status, args, seed, format, version, visits, created_at, started_at, finished_at, result,
    error, fault, parked, poked, parent, depth, ending, deadline, transactional, visit_args, entity,
    flow, kills
FROM semel_runs WHERE parent = ? ORDER BY seq;

-- name: step
INSERT INTO semel_steps (run, body, path, kind, data, awaited, started_at, finished_at, delivery)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, body, path) DO NOTHING;

-- name: count_step
UPDATE semel_runs SET transactional = transactional + 1
WHERE uid = ? AND version = ? AND status IN ('pending', 'parked');

-- name: steps
SELECT run, body, path, kind, data, awaited, started_at, finished_at, delivery FROM semel_steps
WHERE run = ? AND (? IS NULL OR body = ?) ORDER BY seq;

-- name: forget_step
DELETE FROM semel_steps WHERE run = ? AND path = ?;

-- name: forget_steps_of_body
DELETE FROM semel_steps WHERE run = ? AND body = ?;

-- name: take
UPDATE semel_runs SET
    version = version + 1, kills = CASE WHEN reached < ? THEN 0 ELSE kills END + ?, reached = ?, taken = ?
WHERE uid = ? AND status = 'pending' AND taken < ?;

-- name: redeliver
UPDATE semel_runs SET
    status = 'pending', result = NULL, error = NULL, fault = NULL, started_at = NULL, finished_at = NULL,
    version = version + 1, kills = 0, ending = NULL
WHERE uid = ? AND status = 'faulted' AND NOT EXISTS (SELECT 1 FROM semel_tombstones WHERE id = semel_runs.id)
    AND (entity IS NULL OR NOT EXISTS (
        SELECT 1 FROM semel_runs AS o
        WHERE o.workflow = semel_runs.workflow AND o.entity = semel_runs.entity AND o.finished_at IS NULL
    ));

-- name: deliver_again
UPDATE semel_runs SET fault = NULL, version = version + 1, kills = 0 WHERE uid = ? AND status = 'parked' AND fault IS NOT NULL;

-- name: note
INSERT INTO semel_notes (run, path, kind, text, at) VALUES (?, ?, ?, ?, ?);

-- name: notes
SELECT run, path, kind, text, at FROM semel_notes WHERE run = ? ORDER BY seq;

-- name: ended
SELECT uid FROM semel_runs AS r WHERE finished_at < ?
    AND (parent IS NULL OR NOT EXISTS (SELECT 1 FROM semel_runs AS p WHERE p.uid = r.parent AND p.finished_at IS NULL))
    AND NOT EXISTS (SELECT 1 FROM semel_runs AS c WHERE c.parent = r.uid AND c.finished_at IS NULL)
ORDER BY finished_at LIMIT ?;

-- name: bury
INSERT INTO semel_tombstones (id, uid)
SELECT id, uid FROM semel_runs
WHERE uid IN (SELECT value FROM json_each(?)) AND finished_at IS NOT NULL
ON CONFLICT (id) DO NOTHING;

-- name: purge_runs
DELETE FROM semel_runs WHERE uid IN (SELECT value FROM json_each(?));

-- name: purge_due
DELETE FROM semel_due WHERE run IN (SELECT value FROM json_each(?));

-- name: purge_events
DELETE FROM semel_events WHERE run IN (SELECT value FROM json_each(?));

-- name: purge_steps
DELETE FROM semel_steps WHERE run IN (SELECT value FROM json_each(?));

-- name: purge_notes
DELETE FROM semel_notes WHERE run IN (SELECT value FROM json_each(?));

-- name: rewinds
SELECT value FROM semel_meta WHERE name = 'rewinds';

-- name: rewind
UPDATE semel_meta SET value = value + 1 WHERE name = 'rewinds';

-- name: namespace
SELECT value FROM semel_meta WHERE name = 'namespace';
