-- The main database: what a body commits. It is the application's own file too, so every name begins with semel_.

-- schema: the number of the last migration applied; pair: the id that the journal beside it has too;
-- namespace: 32 random bytes for scoped idempotency keys; rewinds: rises when an older run may be claimable again;
-- woken: how often a run became claimable again, for turns.
CREATE TABLE semel_meta (
    name  TEXT PRIMARY KEY,
    value NOT NULL
) WITHOUT ROWID;

-- One row per run. "seq" is the order of creation (one writer at a time, so it is also the order of commits).
-- "turn" is the order in which runs are claimed: 2^32 times seq at the start, and above all turns so far whenever the run
-- becomes claimable again, so that many that wake at once do not keep a fresh one waiting.
-- "version" is compared and set by the body's commit. "kills" counts the owners that died while they drove the run since
-- its latest record, whose seq in the journal is "reached"; "taken" is the highest claim epoch counted in it, so that a
-- takeover that crashes half way does not count twice.
-- "parked" is what each parked execution waits for, as JSON; "poked" counts what has come to the run from outside, so that
-- a park that did not see it is none; "children_left" is how many of the children that it waits for must still end, "undos"
-- how many undos of sagas are open. "ending" says that the run is to be ended; "transactional" counts its rows in semel_steps;
-- "visit_args" are those of a later visit, the one that is open or was the last. "entity" is the key of the row that an entity
-- workflow's run follows, "flow" what it knows of it: its state, its clocks, what is open, as JSON.
CREATE TABLE semel_runs (
    seq         INTEGER PRIMARY KEY,
    turn        INTEGER NOT NULL,
    uid         TEXT    NOT NULL UNIQUE,
    id          TEXT    NOT NULL UNIQUE,
    workflow    TEXT    NOT NULL,
    status      TEXT    NOT NULL CHECK (status IN ('pending', 'parked', 'completed', 'faulted', 'cancelled')),
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
    parked      TEXT    NOT NULL DEFAULT '{}',
    poked       INTEGER NOT NULL DEFAULT 0,
    children_left INTEGER NOT NULL DEFAULT 0,
    undos       INTEGER NOT NULL DEFAULT 0,
    parent      TEXT,
    depth       INTEGER NOT NULL DEFAULT 0,
    ending      TEXT CHECK (ending IN ('cancelled', 'timed out')),
    deadline    REAL,
    transactional INTEGER NOT NULL DEFAULT 0,
    visit_args  BLOB,
    entity      TEXT,
    flow        TEXT,
    CHECK ((status IN ('pending', 'parked')) = (finished_at IS NULL))
);

-- For claims: small however many runs have ended, or wait.
CREATE INDEX semel_runs_pending ON semel_runs (workflow, turn) WHERE status = 'pending';
-- For workers, which look for what they run and is to be ended.
CREATE INDEX semel_runs_ending ON semel_runs (uid) WHERE ending IS NOT NULL AND status = 'pending';
-- One run at a time follows a row.
CREATE UNIQUE INDEX semel_runs_entity ON semel_runs (workflow, entity) WHERE entity IS NOT NULL AND finished_at IS NULL;
CREATE INDEX semel_runs_followed ON semel_runs (workflow, entity, seq) WHERE entity IS NOT NULL;
CREATE INDEX semel_runs_parent ON semel_runs (parent, seq) WHERE parent IS NOT NULL;
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

-- Clocks: "clock" is that of a parked run, "deadline" that of the whole run.
CREATE TABLE semel_due (
    run  TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('clock', 'deadline')),
    at   REAL NOT NULL,
    PRIMARY KEY (run, kind)
) WITHOUT ROWID;
CREATE INDEX semel_due_at ON semel_due (at);

-- Events that no commit of their run has used up. AUTOINCREMENT: a body that has taken one knows it by its number.
CREATE TABLE semel_events (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    run     TEXT NOT NULL,
    name    TEXT NOT NULL,
    payload BLOB NOT NULL,
    at      REAL NOT NULL
);
CREATE INDEX semel_events_run ON semel_events (run);

-- The outcomes of transactional steps, which commit with what the step wrote; the other ones are in the journal.
CREATE TABLE semel_steps (
    seq         INTEGER PRIMARY KEY,
    run         TEXT    NOT NULL,
    body        TEXT    NOT NULL,
    path        TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    data        BLOB    NOT NULL,
    awaited     INTEGER NOT NULL,
    started_at  REAL    NOT NULL,
    finished_at REAL    NOT NULL,
    delivery    INTEGER NOT NULL,
    UNIQUE (run, body, path)
);
