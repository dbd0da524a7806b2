-- The registry index. One row of `images`, `measurements` and `snapshots` holds what its sidecar in the blob store says, so
-- the whole file can be made again from those.
--
-- It proves itself: SQLite notices a damaged page, not a damaged value, and no page that is missing. `checksum` is the
-- SHA-256 (hex) of the table's name and the row's other columns. A sum adds checksums modulo 2^256, so that a row more or
-- less costs one addition: `choices.sum` that of the tags of a choice, `applications.sum` that of the choices of an
-- application, `current.applications` that of the rows of `applications`, `images.measured` that of the measurements of its
-- bits, `totals.sum` that of a whole table. Whoever reads one choice proves its tags by its row, this row by its
-- application's, that one by `current`, and each image by its tag.
--
-- Selection reads no records but the one that it answers: what a question chooses by (the choice) and what decides where an
-- image runs (the place) are apart in `profiles`, where what is equal in many images is one row.

-- An image: built here, or somewhere else and only referred to.
CREATE TABLE images (
  id          TEXT NOT NULL UNIQUE,     -- 64 hex: ImageRecord::identity
  external    INTEGER NOT NULL,         -- 1: a reference, no files of ours
  lost        INTEGER NOT NULL,         -- 1: its manifest is not in the blob store, or no record of it is left
  bits        TEXT NOT NULL,            -- ImageRecord::bits; '' without a record
  application TEXT NOT NULL,            -- in lower case
  compilers   TEXT NOT NULL,            -- names of its graph compilers as a JSON array, sorted; '' for none
  measured    TEXT NOT NULL,            -- sum of the measurements of its bits, '' for none
  choice      INTEGER NOT NULL,         -- profiles.number; 0 without a record
  place       INTEGER NOT NULL,         -- profiles.number; 0 without a record
  record      TEXT NOT NULL,            -- ImageRecord as JSON, '' when none is left
  checksum    TEXT NOT NULL
);
CREATE INDEX images_bits ON images (bits);

CREATE TABLE measurements (
  image    TEXT NOT NULL,               -- 64 hex; measured images need not be published
  number   INTEGER NOT NULL,            -- from 1, in the order taken
  bits     TEXT NOT NULL,               -- as of an image
  record   TEXT NOT NULL,               -- Measurement as JSON
  checksum TEXT NOT NULL,
  UNIQUE (image, number)
);
CREATE INDEX measurements_bits ON measurements (bits);

-- What was published together. Numbers are never used twice.
CREATE TABLE snapshots (
  number   INTEGER PRIMARY KEY,
  created  TEXT NOT NULL,               -- RFC 3339
  note     TEXT NOT NULL,
  images   INTEGER NOT NULL,            -- tags
  root     TEXT NOT NULL,               -- sum of its tags, as their sidecar has them
  changes  INTEGER NOT NULL,            -- tags in the sidecars since the last one in full
  checksum TEXT NOT NULL
);

-- Parts of records (image_parts.h). A number is never used twice.
CREATE TABLE profiles (
  number   INTEGER PRIMARY KEY,
  id       TEXT NOT NULL UNIQUE,        -- SHA-256 of the text, hex
  text     TEXT NOT NULL,               -- ImageRecord as JSON, of which one part is there
  checksum TEXT NOT NULL
);

-- The tags of the current snapshot. One has been so since the snapshot `first`; a number that is not there yet: it came
-- back with a rollback.
CREATE TABLE tags (
  application TEXT NOT NULL,            -- of its image
  choice      INTEGER NOT NULL,         -- of its image
  repository  TEXT NOT NULL,            -- '' for an external image
  tag         TEXT NOT NULL,            -- the opt_dsl_code of an external image
  image       TEXT NOT NULL,            -- images.id
  image_row   TEXT NOT NULL,            -- images.checksum
  place       INTEGER NOT NULL,         -- of its image
  measured    INTEGER NOT NULL,         -- 1: there are measurements of its bits
  lost        INTEGER NOT NULL,         -- of its image
  stale       INTEGER NOT NULL,         -- 1: its rebuild failed, an earlier image stands in
  failing     INTEGER NOT NULL,         -- 1: its bits fail a test that their recipe has by now
  retired     TEXT NOT NULL,            -- why nobody is to get it any more, '' when it is not
  matrices    TEXT NOT NULL,            -- JSON array of the names of those that published it, '' for none
  first       INTEGER NOT NULL,
  checksum    TEXT NOT NULL,
  PRIMARY KEY (application, choice, repository, tag)
) WITHOUT ROWID;
CREATE UNIQUE INDEX tags_name ON tags (repository, tag);
CREATE INDEX tags_image ON tags (image);

-- What a tag was, from the snapshot `first` to `last`.
CREATE TABLE past (
  repository TEXT NOT NULL,
  tag        TEXT NOT NULL,
  first      INTEGER NOT NULL,
  last       INTEGER NOT NULL,
  image      TEXT NOT NULL,
  stale      INTEGER NOT NULL,
  failing    INTEGER NOT NULL,
  retired    TEXT NOT NULL,
  matrices   TEXT NOT NULL,
  checksum   TEXT NOT NULL,
  PRIMARY KEY (repository, tag, first)
) WITHOUT ROWID;

-- What tags of the current snapshot were chosen by: of an application, one row for each choice.
CREATE TABLE choices (
  application TEXT NOT NULL,
  choice      INTEGER NOT NULL,         -- profiles.number
  version     TEXT NOT NULL,            -- of what the profile says, so that few profiles are read
  compilers   TEXT NOT NULL,            -- as of an image
  optimised   INTEGER NOT NULL,
  external    INTEGER NOT NULL,
  images      INTEGER NOT NULL,         -- tags
  measured    INTEGER NOT NULL,         -- those of them that are measured
  sum         TEXT NOT NULL,            -- of the tags
  checksum    TEXT NOT NULL,
  PRIMARY KEY (application, choice)
) WITHOUT ROWID;

-- The applications that have tags in the current snapshot.
CREATE TABLE applications (
  application TEXT PRIMARY KEY,
  images      INTEGER NOT NULL,         -- tags
  compilers   TEXT NOT NULL,            -- JSON: how many of them have which graph compiler, '' for none
  sum         TEXT NOT NULL,            -- of its choices
  checksum    TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE totals (
  name     TEXT PRIMARY KEY,            -- images, measurements, past, profiles, snapshots
  count    INTEGER NOT NULL,            -- rows
  sum      TEXT NOT NULL,
  checksum TEXT NOT NULL
) WITHOUT ROWID;

-- One row: what readers see.
CREATE TABLE current (
  only         INTEGER PRIMARY KEY CHECK (only = 1),
  snapshot     INTEGER NOT NULL,        -- 0 before the first; negative: that one was current and is lost
  newest       INTEGER NOT NULL,        -- the greatest number that was used
  images       INTEGER NOT NULL,        -- tags
  root         TEXT NOT NULL,           -- snapshots.root of it
  applications TEXT NOT NULL,           -- sum of the rows of `applications`
  folders      TEXT NOT NULL,           -- of the sidecars, as they were when the index had all that is in them
  checksum     TEXT NOT NULL
);
