-- The registry index. One row of `images`, `measurements` and `snapshots` holds the same text as its sidecar in the blob
-- store, so the whole file can be made again from those. `checksum` is the SHA-256 (hex) of the row's name and that
-- text: SQLite notices a damaged page, not a damaged value.

-- An image: built here, or somewhere else and only referred to.
CREATE TABLE images (
  id       TEXT PRIMARY KEY,            -- 64 hex: ImageRecord::identity
  external INTEGER NOT NULL,            -- 1: a reference, no files of ours
  lost     INTEGER NOT NULL DEFAULT 0,  -- 1: its manifest is not in the blob store
  record   TEXT NOT NULL,               -- ImageRecord as JSON
  checksum TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE measurements (
  image    TEXT NOT NULL,               -- 64 hex; measured images need not be published
  number   INTEGER NOT NULL,            -- from 1, in the order taken
  record   TEXT NOT NULL,               -- Measurement as JSON
  checksum TEXT NOT NULL,
  PRIMARY KEY (image, number)
) WITHOUT ROWID;

-- What was published together. Numbers are never used twice.
CREATE TABLE snapshots (
  number   INTEGER PRIMARY KEY,
  created  TEXT NOT NULL,               -- RFC 3339
  note     TEXT NOT NULL,
  checksum TEXT NOT NULL                -- of the snapshot's sidecar, which lists the tags too
);

CREATE TABLE tags (
  snapshot   INTEGER NOT NULL REFERENCES snapshots (number),
  repository TEXT NOT NULL,             -- '' for an external image
  tag        TEXT NOT NULL,             -- the opt_dsl_code of an external image
  image      TEXT NOT NULL,             -- images.id; no reference: a lost sidecar must not take the tag with it
  stale      INTEGER NOT NULL,          -- 1: its rebuild failed, an earlier image stands in
  failing    INTEGER NOT NULL,          -- 1: its bits fail a test that their recipe has by now
  retired    TEXT NOT NULL,             -- why nobody is to get it any more, '' when it is not
  matrices   TEXT NOT NULL,             -- JSON array of the names of those that published it, '' for none
  PRIMARY KEY (snapshot, repository, tag)
) WITHOUT ROWID;

-- One row: the snapshot that readers see, 0 before the first.
CREATE TABLE current (
  only     INTEGER PRIMARY KEY CHECK (only = 1),
  snapshot INTEGER NOT NULL
);
INSERT INTO current VALUES (1, 0);
