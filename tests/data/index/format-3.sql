-- An index of format 3, as the kiln of its time wrote it: that of format-2.sql, migrated, and its last snapshot current.
PRAGMA application_id = 1802071150;
PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE applications (
  application TEXT PRIMARY KEY,
  images      INTEGER NOT NULL,         -- tags
  compilers   TEXT NOT NULL,            -- JSON: how many of them have which graph compiler, '' for none
  sum         TEXT NOT NULL,            -- of the tags
  checksum    TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "applications" VALUES('openmpi',1,'','9051dfd973bd7d5441426aca946eb1f152d7ea88456d04546593284490a8ba72','574b6efdf6073d296bd32386ab2ac125f0796a4f010d03befcbfa22ab1a9abd6');
INSERT INTO "applications" VALUES('tensorflow',1,'{"xla":1}','e55e5cc8cded9937aa29ad32a18b4b9e8d47838af3c02c8baaad72e3799d9eb7','29c542d28c51781850c92ae2e7736412c5b6a3f660af564a53f76d2f1a4a6310');
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
INSERT INTO "current" VALUES(1,3,3,2,'610f2a1e281762270b348febdab00a6ce09f0417363389da5f36c5dbaab0f27c','8110b1d08258b541bc9c4e69929e2538b6300e4561bc5a0950b70f59cbf40ee6','1795425890.603882213:100 1795425890.597358326:40 1795425890.617265719:120','d09181d7ad056ee3e4035d3d9b1c4d1fafd051febd0db313eb5399cb7dad6196');
CREATE TABLE images (
  id          TEXT NOT NULL UNIQUE,     -- 64 hex: ImageRecord::identity
  external    INTEGER NOT NULL,         -- 1: a reference, no files of ours
  lost        INTEGER NOT NULL,         -- 1: its manifest is not in the blob store, or no record of it is left
  bits        TEXT NOT NULL,            -- the plan key; the id where it has none; '' without a record
  application TEXT NOT NULL,            -- in lower case
  compilers   TEXT NOT NULL,            -- names of its graph compilers as a JSON array, sorted; '' for none
  measured    TEXT NOT NULL,            -- sum of the measurements of its bits, '' for none
  record      TEXT NOT NULL,            -- ImageRecord as JSON, '' when none is left
  checksum    TEXT NOT NULL
);
INSERT INTO "images" VALUES('769290a9e7b6d06571bb11d084c51458b21c248f27a10c0a828ed06d7319f466',1,0,'769290a9e7b6d06571bb11d084c51458b21c248f27a10c0a828ed06d7319f466','openmpi','','','{"application":"openmpi","code":"openmpi-3","optimised":false,"reference":"docker://ethcscs/openmpi:3.1.3","version":"3.1.3"}','1eb7036d0bac22e959f159518625840aea2f9a85f374c47a7af08cb9605f4dfb');
INSERT INTO "images" VALUES('8bb60829b3057dfd011cfee4aa88f5f86ca79886f103f5d9c95d7588c88c68ae',1,0,'8bb60829b3057dfd011cfee4aa88f5f86ca79886f103f5d9c95d7588c88c68ae','tensorflow','["xla"]','','{"accelerators":["nvidia"],"application":"TensorFlow","code":"tf-2.1-gpu-src","components":[{"kind":"compiler","name":"xla"}],"cpu":"x86_64","optimised":true,"reference":"docker://modakopt/modak:tensorflow-2.1-gpu-src","version":"2.1"}','5cf92e12a96cd29656210f6ea0984eff4360c21c064652ce9bbc76f202ea0fe3');
INSERT INTO "images" VALUES('e45f886a7bb290b043a1eb514e768d98d06446b3d99708ed19ffc4a50e05b9ea',1,0,'e45f886a7bb290b043a1eb514e768d98d06446b3d99708ed19ffc4a50e05b9ea','openmpi','','','{"application":"openmpi","code":"openmpi-3","optimised":false,"reference":"docker://ethcscs/openmpi:4.0.2","version":"4.0.2"}','f68f3418a051fae5456d28f3ace4444cab67a5488348574f401647de1fc50ce0');
CREATE TABLE measurements (
  image    TEXT NOT NULL,               -- 64 hex; measured images need not be published
  number   INTEGER NOT NULL,            -- from 1, in the order taken
  bits     TEXT NOT NULL,               -- as of an image
  record   TEXT NOT NULL,               -- Measurement as JSON
  checksum TEXT NOT NULL,
  UNIQUE (image, number)
);
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
INSERT INTO "past" VALUES('','openmpi-3',1,1,'769290a9e7b6d06571bb11d084c51458b21c248f27a10c0a828ed06d7319f466',0,0,'','','fa864faa55788d56d9ea90bedb650cbf1f3c6c28be3e58819e147ec9d0013338');
INSERT INTO "past" VALUES('','tf-2.1-gpu-src',1,2,'8bb60829b3057dfd011cfee4aa88f5f86ca79886f103f5d9c95d7588c88c68ae',0,0,'','','92ddea21e3ae75438352148ec1b68317e18abd75c1a55f7432ffc60571b5e82c');
INSERT INTO "past" VALUES('','tf-2.1-gpu-src',3,3,'8bb60829b3057dfd011cfee4aa88f5f86ca79886f103f5d9c95d7588c88c68ae',0,0,'wrong','','c5d2df73b965c3ad4a67fc72fdfaea9470fcc0281ca91035fce868e5fabee203');
CREATE TABLE snapshots (
  number   INTEGER PRIMARY KEY,
  created  TEXT NOT NULL,               -- RFC 3339
  note     TEXT NOT NULL,
  images   INTEGER NOT NULL,            -- tags
  root     TEXT NOT NULL,               -- sum of its tags, as their sidecar has them
  changes  INTEGER NOT NULL,            -- tags in the sidecars since the last one in full
  checksum TEXT NOT NULL
);
INSERT INTO "snapshots" VALUES(1,'2026-11-23T06:16:47Z','2 imported mappings',2,'73071dc564827262ae25f5b727700281a2942bb64f81942c6e9b15d38fb3c9f8',0,'ae9aa594da56d55664dc3c8705f0d36969c2c7b93d287533d32656dd98399443');
INSERT INTO "snapshots" VALUES(2,'2026-11-23T06:16:47Z','2 imported mappings',2,'e13f4d349fae422e9098b10258e6854305bc495de437dea170b521fa5853e948',0,'5101543224a625e33a3c28ddf4460e67346e4d8bde5171b45bd2ce752e0b524d');
INSERT INTO "snapshots" VALUES(3,'2026-11-23T06:16:47Z','retired: wrong',2,'610f2a1e281762270b348febdab00a6ce09f0417363389da5f36c5dbaab0f27c',0,'44b8a4b1b61226730ad868d69551b8a8869ad6bde365b4a420f2d7b43e68d43c');
CREATE TABLE tags (
  application TEXT NOT NULL,            -- of its image
  repository  TEXT NOT NULL,            -- '' for an external image
  tag         TEXT NOT NULL,            -- the opt_dsl_code of an external image
  image       TEXT NOT NULL,            -- images.id
  image_row   TEXT NOT NULL,            -- images.checksum
  stale       INTEGER NOT NULL,         -- 1: its rebuild failed, an earlier image stands in
  failing     INTEGER NOT NULL,         -- 1: its bits fail a test that their recipe has by now
  retired     TEXT NOT NULL,            -- why nobody is to get it any more, '' when it is not
  matrices    TEXT NOT NULL,            -- JSON array of the names of those that published it, '' for none
  first       INTEGER NOT NULL,
  checksum    TEXT NOT NULL,
  PRIMARY KEY (application, repository, tag)
) WITHOUT ROWID;
INSERT INTO "tags" VALUES('openmpi','','openmpi-3','e45f886a7bb290b043a1eb514e768d98d06446b3d99708ed19ffc4a50e05b9ea','f68f3418a051fae5456d28f3ace4444cab67a5488348574f401647de1fc50ce0',0,0,'','',2,'9051dfd973bd7d5441426aca946eb1f152d7ea88456d04546593284490a8ba72');
INSERT INTO "tags" VALUES('tensorflow','','tf-2.1-gpu-src','8bb60829b3057dfd011cfee4aa88f5f86ca79886f103f5d9c95d7588c88c68ae','5cf92e12a96cd29656210f6ea0984eff4360c21c064652ce9bbc76f202ea0fe3',0,0,'wrong','',4,'e55e5cc8cded9937aa29ad32a18b4b9e8d47838af3c02c8baaad72e3799d9eb7');
CREATE TABLE totals (
  name     TEXT PRIMARY KEY,            -- images, measurements, past, snapshots
  count    INTEGER NOT NULL,            -- rows
  sum      TEXT NOT NULL,
  checksum TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "totals" VALUES('images',3,'723f6598556af064f57f91b3d3a21756d8f801ea7d036e9856c34b89830e6abe','4ea11eafb34b051cf2321b6938f9595a74cbb36fb77ddaf1d90b1f540e6514da');
INSERT INTO "totals" VALUES('measurements',0,'0000000000000000000000000000000000000000000000000000000000000000','011f6a50098b5ee4ede0ab91d3eee0e305fc6592aa507b69965d4fa1fb2ef823');
INSERT INTO "totals" VALUES('past',3,'5337193ff28cc647a7a4a1c09b167a6b71c3e9c69c8cc82bcdfcadb53c75fd67','5cbb747aeba938475e107988be723e1b1f0ce6fac24f01f027c03a215bd4c2d3');
INSERT INTO "totals" VALUES('snapshots',3,'44549e78b50f21aca9f0ce3b8f889a7924cbec02fedf9b8c4febfd0704adbacc','7a211bae65ec66015d49cadc1ac7516be013937d2fe0f207ac9600647b00ddc8');
CREATE INDEX images_bits ON images (bits);
CREATE INDEX measurements_bits ON measurements (bits);
CREATE UNIQUE INDEX tags_name ON tags (repository, tag);
CREATE INDEX tags_image ON tags (image);
COMMIT;
