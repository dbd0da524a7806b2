-- An index of format 2, as the kiln of its time wrote it: mappings imported twice, and an earlier snapshot current.
PRAGMA application_id = 1802071150;
PRAGMA user_version = 2;
BEGIN TRANSACTION;
CREATE TABLE current (
  only     INTEGER PRIMARY KEY CHECK (only = 1),
  snapshot INTEGER NOT NULL
);
INSERT INTO "current" VALUES(1,2);
CREATE TABLE images (
  id       TEXT PRIMARY KEY,
  external INTEGER NOT NULL,
  lost     INTEGER NOT NULL DEFAULT 0,
  record   TEXT NOT NULL,
  checksum TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "images" VALUES('769290a9e7b6d06571bb11d084c51458b21c248f27a10c0a828ed06d7319f466',1,0,'{"application":"openmpi","code":"openmpi-3","optimised":false,"reference":"docker://ethcscs/openmpi:3.1.3","version":"3.1.3"}','97ea8d1200d595100317a39bea4f5b3341f5b2c06b2729aba3a6b27ad33b06a1');
INSERT INTO "images" VALUES('8bb60829b3057dfd011cfee4aa88f5f86ca79886f103f5d9c95d7588c88c68ae',1,0,'{"accelerators":["nvidia"],"application":"TensorFlow","code":"tf-2.1-gpu-src","components":[{"kind":"compiler","name":"xla"}],"cpu":"x86_64","optimised":true,"reference":"docker://modakopt/modak:tensorflow-2.1-gpu-src","version":"2.1"}','721d08be7722ba82b42c1686e313bd326257a6f7ba682a1bd48c5d160961f73f');
INSERT INTO "images" VALUES('e45f886a7bb290b043a1eb514e768d98d06446b3d99708ed19ffc4a50e05b9ea',1,0,'{"application":"openmpi","code":"openmpi-3","optimised":false,"reference":"docker://ethcscs/openmpi:4.0.2","version":"4.0.2"}','cc73d2cd5d8f569cca81676aeb0b7af5694659c292ae01801c24d9184f348b09');
CREATE TABLE measurements (
  image    TEXT NOT NULL,
  number   INTEGER NOT NULL,
  record   TEXT NOT NULL,
  checksum TEXT NOT NULL,
  PRIMARY KEY (image, number)
) WITHOUT ROWID;
CREATE TABLE snapshots (
  number   INTEGER PRIMARY KEY,
  created  TEXT NOT NULL,
  note     TEXT NOT NULL,
  checksum TEXT NOT NULL
);
INSERT INTO "snapshots" VALUES(1,'2026-11-23T06:16:47Z','2 imported mappings','9e70e0c8db8858af23244b6c70b892008558345e8fc6668f0047f3be36d99bf1');
INSERT INTO "snapshots" VALUES(2,'2026-11-23T06:16:47Z','2 imported mappings','af31715ff349f75bf1588031c683aaf91b04fe55e0058534ff83736dbb4cf4e6');
INSERT INTO "snapshots" VALUES(3,'2026-11-23T06:16:47Z','retired: wrong','26c83d00daa361a46aff827d5fddcf4235ed9219a285cacff597137d9af571fe');
CREATE TABLE tags (
  snapshot   INTEGER NOT NULL REFERENCES snapshots (number),
  repository TEXT NOT NULL,
  tag        TEXT NOT NULL,
  image      TEXT NOT NULL,
  stale      INTEGER NOT NULL,
  failing    INTEGER NOT NULL,
  retired    TEXT NOT NULL,
  matrices   TEXT NOT NULL,
  PRIMARY KEY (snapshot, repository, tag)
) WITHOUT ROWID;
INSERT INTO "tags" VALUES(1,'','openmpi-3','769290a9e7b6d06571bb11d084c51458b21c248f27a10c0a828ed06d7319f466',0,0,'','');
INSERT INTO "tags" VALUES(1,'','tf-2.1-gpu-src','8bb60829b3057dfd011cfee4aa88f5f86ca79886f103f5d9c95d7588c88c68ae',0,0,'','');
INSERT INTO "tags" VALUES(2,'','openmpi-3','e45f886a7bb290b043a1eb514e768d98d06446b3d99708ed19ffc4a50e05b9ea',0,0,'','');
INSERT INTO "tags" VALUES(2,'','tf-2.1-gpu-src','8bb60829b3057dfd011cfee4aa88f5f86ca79886f103f5d9c95d7588c88c68ae',0,0,'','');
INSERT INTO "tags" VALUES(3,'','openmpi-3','e45f886a7bb290b043a1eb514e768d98d06446b3d99708ed19ffc4a50e05b9ea',0,0,'','');
INSERT INTO "tags" VALUES(3,'','tf-2.1-gpu-src','8bb60829b3057dfd011cfee4aa88f5f86ca79886f103f5d9c95d7588c88c68ae',0,0,'wrong','');
COMMIT;
