-- The journal: what survives a body. It is a file of its own because a body (or its caller) may hold the main
-- database's write lock while a step must become durable beside it.

-- schema, pair: as in the main database; rewinds: rises when a claim was given back or its owner died.
CREATE TABLE semel_meta (
    name  TEXT PRIMARY KEY,
    value NOT NULL
) WITHOUT ROWID;

-- The runs that the journal knows, by a short number that is never used again (AUTOINCREMENT): in the records and their
-- index it stands for the uid, which makes a batch of 100 scattered records 15 % quicker than the 32 digits do. "blind"
-- says that an owner died with the run in hand, and nobody knows which steps it had in flight; "begun", that it died while
-- it drove the run, and had not only claimed it; "began_at", when the run was claimed for the first time.
CREATE TABLE semel_runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    uid    TEXT    NOT NULL UNIQUE,
    blind  INTEGER NOT NULL DEFAULT 0 CHECK (blind IN (0, 1)),
    begun  INTEGER NOT NULL DEFAULT 0 CHECK (begun IN (0, 1)),
    began_at REAL
);

-- The outcomes of steps, in the order they were made; "run" is a number of semel_runs. A rowid table with a unique index
-- beside it takes 115,000 rows/s of 300 bytes, scattered over 1,000 runs; clustered by (run, body, path) it takes 32,000,
-- as each row lands on a page of its own and drags its data along.
CREATE TABLE semel_records (
    seq         INTEGER PRIMARY KEY,
    run         INTEGER NOT NULL,
    body        TEXT    NOT NULL,
    path        TEXT    NOT NULL,
    kind        TEXT    NOT NULL CHECK (kind IN ('result', 'failure', 'unrecordable', 'event', 'timeout')),
    data        BLOB    NOT NULL,
    awaited     INTEGER NOT NULL CHECK (awaited IN (0, 1)),
    started_at  REAL    NOT NULL,
    finished_at REAL    NOT NULL,
    delivery    INTEGER NOT NULL,
    UNIQUE (run, body, path)
);

CREATE TABLE semel_notes (
    seq  INTEGER PRIMARY KEY,
    run  TEXT NOT NULL,
    path TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    at   REAL NOT NULL
);
CREATE INDEX semel_notes_run ON semel_notes (run);

-- The processes that drive runs, and how long each is to be believed in.
CREATE TABLE semel_owners (
    owner       TEXT PRIMARY KEY,
    lease_until REAL NOT NULL
) WITHOUT ROWID;

-- Who drives which run. An epoch is never used again (AUTOINCREMENT), so one look-up by rowid is the whole fence.
-- "run" is the uid, "number" the run's in semel_runs. A claim whose owner has no row is orphaned: its run is to be taken
-- over.
CREATE TABLE semel_claims (
    epoch  INTEGER PRIMARY KEY AUTOINCREMENT,
    run    TEXT    NOT NULL UNIQUE,
    number INTEGER NOT NULL,
    owner  TEXT    NOT NULL
);
CREATE INDEX semel_claims_owner ON semel_claims (owner);
