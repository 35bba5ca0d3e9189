-- The main database: what a body commits. It is the application's own file too, so every name begins with semel_.

-- schema: the number of the last migration applied; pair: the id that the journal beside it has too;
-- namespace: 32 random bytes for scoped idempotency keys; rewinds: rises when an older run may be claimable again.
CREATE TABLE semel_meta (
    name  TEXT PRIMARY KEY,
    value NOT NULL
) WITHOUT ROWID;

-- One row per run. "seq" is the order of creation (one writer at a time, so it is also the order of commits).
-- "version" is compared and set by the body's commit. "kills" counts the owners that died while they drove the run since
-- its latest record, whose seq in the journal is "reached"; "taken" is the highest claim epoch counted in it, so that a
-- takeover that crashes half way does not count twice.
CREATE TABLE semel_runs (
    seq         INTEGER PRIMARY KEY,
    uid         TEXT    NOT NULL UNIQUE,
    id          TEXT    NOT NULL UNIQUE,
    workflow    TEXT    NOT NULL,
    status      TEXT    NOT NULL CHECK (status IN ('pending', 'completed', 'faulted', 'cancelled')),
    args        BLOB    NOT NULL,
    seed        BLOB    NOT NULL,
    format      INTEGER NOT NULL,
    version     INTEGER NOT NULL DEFAULT 1,
    visits      TEXT    NOT NULL DEFAULT '{}',
    created_at  REAL    NOT NULL,
    started_at  REAL,
    finished_at REAL,
    result      BLOB,
    error       BLOB,
    fault       TEXT,
    kills       INTEGER NOT NULL DEFAULT 0,
    taken       INTEGER NOT NULL DEFAULT 0,
    reached     INTEGER NOT NULL DEFAULT 0,
    CHECK ((status = 'pending') = (finished_at IS NULL))
);

-- For claims: small however many runs have ended. A workflow's entries are in order of seq.
CREATE INDEX semel_runs_pending ON semel_runs (workflow) WHERE status = 'pending';
-- For purge.
CREATE INDEX semel_runs_ended ON semel_runs (finished_at) WHERE finished_at IS NOT NULL;
-- For lists, newest first, and for counts.
CREATE INDEX semel_runs_created ON semel_runs (created_at);
CREATE INDEX semel_runs_workflow ON semel_runs (workflow, created_at);
CREATE INDEX semel_runs_status ON semel_runs (status, created_at);

-- Notes that a body's commit wrote; the other ones are in the journal.
CREATE TABLE semel_notes (
    seq  INTEGER PRIMARY KEY,
    run  TEXT NOT NULL,
    path TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    at   REAL NOT NULL
);
CREATE INDEX semel_notes_run ON semel_notes (run);

-- Ids of purged runs, which are not started anew. The row comes before the run's is deleted.
CREATE TABLE semel_tombstones (
    id  TEXT PRIMARY KEY,
    uid TEXT NOT NULL
) WITHOUT ROWID;
