"""What a registry holds, and what the OCI distribution specification 1.1.1 lets in: repositories of blobs, manifests and tags.

Pure but for the memory that it keeps: no HTTP here. What the specification calls wrong is a Refusal with the specification's code.
"""
import dataclasses
import hashlib
import json
import re

NAME = re.compile(r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*")
TAG = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")
MEDIA_TYPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}")
IMAGE_INDEX = "application/vnd.oci.image.index.v1+json"
IMAGES = ("application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json")
INDEXES = (IMAGE_INDEX, "application/vnd.docker.distribution.manifest.list.v2+json")
LARGEST_MANIFEST = 4 << 20


class Refusal(Exception):
    def __init__(self, status, code, message, detail=None):
        super().__init__(message)
        self.status, self.code, self.message, self.detail = status, code, message, detail


def digest_of(data, like="sha256:"):
    algorithm = like.split(":")[0]
    return f"{algorithm}:{hashlib.new(algorithm, data).hexdigest()}"


def checked_digest(text):
    if not DIGEST.fullmatch(text or ""):
        raise Refusal(400, "DIGEST_INVALID", "not a digest", text)
    return text


@dataclasses.dataclass
class Manifest:
    data: bytes
    kind: str  # its media type, as it was pushed

    @property
    def fields(self):
        return json.loads(self.data)

    def descriptor(self, digest):
        """As the list of referrers has it: with the type of the artifact and all annotations."""
        fields = self.fields
        found = {"mediaType": self.kind, "digest": digest, "size": len(self.data)}
        artifact = fields.get("artifactType") or fields.get("config", {}).get("mediaType")
        if artifact:
            found["artifactType"] = artifact
        if fields.get("annotations"):
            found["annotations"] = fields["annotations"]
        return found


class Repository:
    def __init__(self):
        self.blobs, self.manifests, self.tags = {}, {}, {}

    def resolve(self, reference):
        """The digest of a tag or a digest, or None."""
        digest = reference if ":" in reference else self.tags.get(reference)
        return digest if digest in self.manifests else None

    def blob(self, digest):
        if digest not in self.blobs:
            raise Refusal(404, "BLOB_UNKNOWN", "blob unknown to registry", digest)
        return self.blobs[digest]

    def manifest(self, reference):
        digest = self.resolve(reference)
        if not digest:
            raise Refusal(404, "MANIFEST_UNKNOWN", "manifest unknown", reference)
        return digest, self.manifests[digest]

    def put_blob(self, digest, data):
        if digest_of(data, digest) != digest:
            raise Refusal(400, "DIGEST_INVALID", "provided digest did not match uploaded content", digest)
        self.blobs[digest] = data

    def put_manifest(self, reference, manifest):
        """The manifest's digest; what it refers to has to be here, but for its subject."""
        if ":" not in reference and not TAG.fullmatch(reference):
            raise Refusal(400, "MANIFEST_INVALID", "not a tag", reference)
        digest = digest_of(manifest.data, checked_digest(reference) if ":" in reference else "sha256:")
        if ":" in reference and digest != reference:
            raise Refusal(400, "DIGEST_INVALID", "provided digest did not match uploaded content", reference)
        check_manifest(manifest, self)
        self.manifests[digest] = manifest
        if ":" not in reference:
            self.tags[reference] = digest
        return digest

    def delete_manifest(self, reference):
        """A tag alone; a digest with every tag that points to it."""
        self.manifest(reference)
        if ":" not in reference:
            del self.tags[reference]
            return
        del self.manifests[reference]
        self.tags = {tag: digest for tag, digest in self.tags.items() if digest != reference}

    def delete_blob(self, digest):
        self.blob(digest)
        del self.blobs[digest]

    def sorted_tags(self):
        return sorted(self.tags, key=lambda tag: (tag.lower(), tag))

    def referrers(self, digest):
        found = []
        for own, manifest in sorted(self.manifests.items()):
            if (manifest.fields.get("subject") or {}).get("digest") == digest:
                found.append(manifest.descriptor(own))
        return found


def invalid(message, detail=None):
    return Refusal(400, "MANIFEST_INVALID", message, detail)


def check_descriptor(value, where):
    if not isinstance(value, dict):
        raise invalid("not a descriptor", where)
    if not isinstance(value.get("mediaType"), str) or not MEDIA_TYPE.fullmatch(value["mediaType"]):
        raise invalid("a descriptor needs a mediaType", where)
    if not isinstance(value.get("digest"), str) or not DIGEST.fullmatch(value["digest"]):
        raise invalid("a descriptor needs a digest", where)
    if type(value.get("size")) is not int or value["size"] < 0:
        raise invalid("a descriptor needs a size", where)
    if not texts(value.get("annotations", {})):
        raise invalid("annotations are texts", where)


def texts(value):
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def check_manifest(manifest, repository):
    if len(manifest.data) > LARGEST_MANIFEST:
        raise Refusal(413, "MANIFEST_INVALID", "manifest is larger than 4 MiB")
    try:
        fields = json.loads(manifest.data)
    except ValueError as error:
        raise invalid("not JSON", str(error)) from None
    if not isinstance(fields, dict) or fields.get("schemaVersion") != 2:
        raise invalid("schemaVersion is not 2")
    if fields.get("mediaType", manifest.kind) != manifest.kind:
        raise invalid("Content-Type is not the manifest's mediaType", manifest.kind)
    if manifest.kind not in IMAGES + INDEXES:
        raise invalid("no such type of manifest", manifest.kind)
    if not texts(fields.get("annotations", {})):
        raise invalid("annotations are texts")
    if "subject" in fields:
        check_descriptor(fields["subject"], "subject")
    if manifest.kind in IMAGES:
        check_parts([fields.get("config"), *list_of(fields, "layers")], {d: len(b) for d, b in repository.blobs.items()})
    else:
        check_parts(list_of(fields, "manifests"), {d: len(m.data) for d, m in repository.manifests.items()})


def list_of(fields, key):
    if not isinstance(fields.get(key), list):
        raise invalid(f"{key} is not a list")
    return fields[key]


def check_parts(descriptors, sizes):
    """Each is there, as large as it is said to be. A layer that says where else it lies need not be."""
    for number, descriptor in enumerate(descriptors):
        check_descriptor(descriptor, number)
        if descriptor["digest"] not in sizes:
            if descriptor.get("urls"):
                continue
            raise Refusal(400, "MANIFEST_BLOB_UNKNOWN", "manifest references a manifest or blob unknown to registry", descriptor["digest"])
        if sizes[descriptor["digest"]] != descriptor["size"]:
            raise Refusal(400, "SIZE_INVALID", "not as large as its descriptor says", descriptor["digest"])
