"""An image with documents as another maker puts them beside it: attached_layout.py FOLDER [DOCUMENT…]

An OCI layout of one image (tag `image`) of one small layer. Documents: spdx, provenance, other. They are manifests with the
image as `subject`, listed by index.json and by an index with the tag that stands for them in a registry. Prints the digest.
"""
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile

folder, *documents = sys.argv[1:]
os.makedirs(f"{folder}/blobs/sha256")
OCI = "application/vnd.oci."
TAG = "org.opencontainers.image.ref.name"
STATEMENT = "application/vnd.in-toto+json"
TEXTS = {"spdx": ("application/spdx+json", {"spdxVersion": "SPDX-2.3", "name": "theirs"}),
         "provenance": (STATEMENT, {"predicateType": "https://slsa.dev/provenance/v1", "subject": []}),
         "other": (STATEMENT, {"predicateType": "https://example.org/other"})}


def blob(data, kind):
    digest = hashlib.sha256(data).hexdigest()
    with open(f"{folder}/blobs/sha256/{digest}", "wb") as out:
        out.write(data)
    return {"mediaType": kind, "digest": "sha256:" + digest, "size": len(data)}


def document(kind, value):
    return blob(json.dumps({"schemaVersion": 2, "mediaType": kind, **value}).encode(), kind)


def manifest(config, layer, **more):
    return document(OCI + "image.manifest.v1+json", {"config": config, "layers": [layer], **more})


layer = io.BytesIO()
with tarfile.open(fileobj=layer, mode="w") as tar:
    tar.addfile(tarfile.TarInfo("file"))
plain = hashlib.sha256(layer.getvalue()).hexdigest()
config = {"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": ["sha256:" + plain]}}
image = manifest(blob(json.dumps(config).encode(), OCI + "image.config.v1+json"),
                 blob(gzip.compress(layer.getvalue(), mtime=0), OCI + "image.layer.v1.tar+gzip"))
artifacts = []
for name in documents:
    kind, text = TEXTS[name]
    made = manifest(blob(b"{}", OCI + "empty.v1+json"), blob(json.dumps(text).encode(), kind), artifactType=kind, subject=image)
    artifacts.append(made | {"artifactType": kind})
listed = document(OCI + "image.index.v1+json", {"manifests": artifacts})
tagged = [image | {"annotations": {TAG: "image"}}, *artifacts]
if artifacts:
    tagged.append(listed | {"annotations": {TAG: image["digest"].replace(":", "-")}, "artifactType": "application/vnd.example.list"})
for name, value in (("index.json", {"schemaVersion": 2, "manifests": tagged}), ("oci-layout", {"imageLayoutVersion": "1.0.0"})):
    with open(f"{folder}/{name}", "w") as out:
        json.dump(value, out)
print(image["digest"])
