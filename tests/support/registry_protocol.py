"""The request table of the OCI distribution specification 1.1.1 (end-1 to end-13): a request in, an answer out, no sockets.

The specification's own conformance tests, v1.1.1 with all four categories: 75 passed, none failed, 4 do not apply (2026-11-23).

What a registry may leave out or do otherwise is a word in the request's `quirks`:
  session           a POST only begins an upload: nothing is mounted, no body is taken
  redirect          GET of a blob answers 307 to another host name, where whoever shows credentials is refused
  forget            says that it stored, and did not
  no-referrers      no referrers API; no OCI-Subject
  no-filter         the list of referrers is not filtered
  no-conditions     If-Match and If-None-Match of a PUT are not looked at
  no-delete         405 to each DELETE; no-tag-delete: 400 to that of a tag
Of one thing more than the specification says: a PATCH without Content-Range is taken once, as the whole blob (so do skopeo and Docker).
"""
import copy
import dataclasses
import json
import re
import threading
import urllib.parse
import uuid

from registry_content import IMAGE_INDEX, NAME, Manifest, Refusal, Repository, checked_digest

ROUTES = [(re.compile(pattern), kind) for pattern, kind in (
    (r"/v2/()()", "version"),
    (r"/v2/(.+)/blobs/uploads/()", "uploads"),
    (r"/v2/(.+)/blobs/([^/]+)", "blob"),
    (r"/v2/(.+)/manifests/([^/]+)", "manifest"),
    (r"/v2/(.+)/tags/list()", "tags"),
    (r"/v2/(.+)/referrers/([^/]+)", "referrers"),
    (r"/uploads-of/(.+)/([^/]+)", "session"),
    (r"/elsewhere/(.+)/([^/]+)", "elsewhere"),
)]


@dataclasses.dataclass
class Answer:
    status: int
    headers: list = dataclasses.field(default_factory=list)
    body: bytes = b""


@dataclasses.dataclass
class Request:
    method: str
    target: str  # path and query
    headers: object  # .get(name, default), whatever the case of the name
    body: bytes = b""
    site: str = ""  # scheme://host:port as the client wrote it
    quirks: frozenset = frozenset()

    def __post_init__(self):
        parts = urllib.parse.urlsplit(self.target)
        self.path = urllib.parse.unquote(parts.path)
        self.query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))

    def route(self):
        """(kind, repository, reference), or (None, "", "")."""
        for pattern, kind in ROUTES:
            found = pattern.fullmatch(self.path)
            if found:
                return kind, *found.groups()
        return None, "", ""


def refused(refusal):
    error = {"code": refusal.code, "message": refusal.message, "detail": refusal.detail}
    return json_answer(refusal.status, {"errors": [error]})


def json_answer(status, value, headers=(), kind="application/json"):
    return Answer(status, [("Content-Type", kind), *headers], json.dumps(value).encode())


@dataclasses.dataclass
class Session:
    repository: str
    state: str
    chunks: bool  # begun with Content-Length: 0
    data: bytes = b""

    @property
    def range(self):
        return f"0-{max(len(self.data) - 1, 0)}"


class Registry:
    def __init__(self, absolute=True, page=1000):
        self.absolute, self.page = absolute, page
        self.repositories, self.sessions, self.lock = {}, {}, threading.Lock()

    def act(self, request):
        with self.lock:
            before = copy.deepcopy(self.repositories) if "forget" in request.quirks else None
            try:
                return self.routed(request)
            except Refusal as refusal:
                return refused(refusal)
            finally:
                if before is not None:
                    self.repositories = before

    def routed(self, request):
        kind, name, reference = request.route()
        if not kind:
            return Answer(404, [("Content-Type", "text/plain")], b"404 page not found\n")
        if name and not NAME.fullmatch(name):
            raise Refusal(400, "NAME_INVALID", "invalid repository name", name)
        method = "get" if request.method == "HEAD" and kind in ("blob", "manifest", "version") else request.method.lower()
        do = getattr(self, f"{method}_{kind}", None)
        if not do:
            raise Refusal(405, "UNSUPPORTED", "the operation is unsupported", request.method)
        return do(request, name, reference)

    def url(self, request, path, **query):
        whole = path + ("?" + urllib.parse.urlencode(query) if query else "")
        return request.site + whole if self.absolute else whole

    def known(self, name):
        if name not in self.repositories:
            raise Refusal(404, "NAME_UNKNOWN", "repository name not known to registry", name)
        return self.repositories[name]

    def get_version(self, request, name, reference):
        return json_answer(200, {})

    # Blobs: end-2, end-10.

    def get_blob(self, request, name, digest):
        data = self.known(name).blob(checked_digest(digest))
        if "redirect" in request.quirks and request.method == "GET":
            there = re.sub(r"//[^/:]+", "//localhost", request.site)
            return Answer(307, [("Location", f"{there}/elsewhere/{name}/{digest}?signature=1")])
        return ranged(request, data, [("Docker-Content-Digest", digest), ("ETag", f'"{digest}"')])

    def get_elsewhere(self, request, name, digest):
        if request.headers.get("Authorization"):
            return Answer(400, [("Content-Type", "application/xml")], b"<Error><Message>Only one auth mechanism allowed</Message></Error>")
        return ranged(request, self.known(name).blob(digest), [])

    def delete_blob(self, request, name, digest):
        if "no-delete" in request.quirks:
            raise Refusal(405, "UNSUPPORTED", "the operation is unsupported")
        self.known(name).delete_blob(checked_digest(digest))
        return Answer(202)

    # Uploads: end-4a, end-4b, end-5, end-6, end-11, end-13.

    def post_uploads(self, request, name, reference):
        query = {} if "session" in request.quirks else request.query
        if "mount" in query:
            found = self.repositories.get(query.get("from"), Repository()).blobs.get(checked_digest(query["mount"]))
            if found is not None:
                return self.stored(request, name, query["mount"], found)
        elif "digest" in query:
            check_body(request)
            return self.stored(request, name, checked_digest(query["digest"]), request.body)
        elif request.body and not request.query:
            raise Refusal(400, "BLOB_UPLOAD_INVALID", "an upload begins without a body")
        session = str(uuid.uuid4())
        self.sessions[session] = Session(name, uuid.uuid4().hex, request.headers.get("Content-Length") == "0")
        return self.progress(request, session, 202)

    def stored(self, request, name, digest, data):
        self.repositories.setdefault(name, Repository()).put_blob(digest, data)
        return Answer(201, [("Location", self.url(request, f"/v2/{name}/blobs/{digest}")), ("Docker-Content-Digest", digest)])

    def progress(self, request, key, status):
        session = self.sessions[key]
        where = self.url(request, f"/uploads-of/{session.repository}/{key}", state=session.state)
        return Answer(status, [("Location", where), ("Range", session.range), ("Docker-Upload-UUID", key)])

    def session(self, request, name, key):
        found = self.sessions.get(key)
        if not found or found.repository != name or request.query.get("state") != found.state:
            raise Refusal(404, "BLOB_UPLOAD_UNKNOWN", "blob upload unknown to registry", request.target)
        return found

    def get_session(self, request, name, key):
        self.session(request, name, key)
        return self.progress(request, key, 204)

    def delete_session(self, request, name, key):  # as Debian's docker-registry; the specification has none
        self.session(request, name, key)
        del self.sessions[key]
        return Answer(204)

    def patch_session(self, request, name, key):
        session = self.session(request, name, key)
        span = request.headers.get("Content-Range")
        if span is None and session.data:
            raise Refusal(400, "BLOB_UPLOAD_INVALID", "a chunk has a Content-Range")
        check_body(request, needs_size=span is not None)
        if span is not None and not session.chunks:
            raise Refusal(400, "BLOB_UPLOAD_INVALID", "an upload in chunks begins with Content-Length: 0")
        if span is not None and not in_order(span, session, request.body):
            return self.progress(request, key, 416)
        session.data += request.body
        return self.progress(request, key, 202)

    def put_session(self, request, name, key):
        session = self.session(request, name, key)
        digest = checked_digest(request.query.get("digest"))
        if request.body:
            check_body(request)
            span = request.headers.get("Content-Range")
            if session.data and span is None:
                raise Refusal(400, "BLOB_UPLOAD_INVALID", "a last chunk has a Content-Range")
            if span is not None and not in_order(span, session, request.body):
                return self.progress(request, key, 416)
        del self.sessions[key]
        return self.stored(request, name, digest, session.data + request.body)

    # Manifests: end-3, end-7, end-9.

    def get_manifest(self, request, name, reference):
        digest, manifest = self.known(name).manifest(reference)
        accepted = [part.split(";")[0].strip() for part in request.headers.get("Accept", "*/*").split(",")]
        if manifest.kind not in accepted and "*/*" not in accepted and "application/*" not in accepted:
            raise Refusal(404, "MANIFEST_UNKNOWN", "manifest found, but the accept header does not support its type", manifest.kind)
        headers = [("Content-Type", manifest.kind), ("Docker-Content-Digest", digest), ("ETag", f'"{digest}"')]
        if names(request.headers.get("If-None-Match"), digest):
            return Answer(304, headers[1:])
        return Answer(200, headers, manifest.data)

    def put_manifest(self, request, name, reference):
        if request.headers.get("Content-Length") is None:
            raise Refusal(411, "SIZE_INVALID", "Content-Length is missing")
        repository = self.repositories.get(name, Repository())
        if "no-conditions" not in request.quirks and not conditions_hold(request, repository.resolve(reference)):
            return Answer(412, [("Content-Type", "text/plain")], b"precondition failed\n")
        manifest = Manifest(request.body, request.headers.get("Content-Type", "").split(";")[0].strip())
        digest = repository.put_manifest(reference, manifest)
        self.repositories[name] = repository
        headers = [("Location", self.url(request, f"/v2/{name}/manifests/{digest}")), ("Docker-Content-Digest", digest)]
        subject = manifest.fields.get("subject")
        if subject and "no-referrers" not in request.quirks:
            headers.append(("OCI-Subject", subject["digest"]))
        return Answer(201, headers)

    def delete_manifest(self, request, name, reference):
        if "no-delete" in request.quirks:
            raise Refusal(405, "UNSUPPORTED", "the operation is unsupported")
        if "no-tag-delete" in request.quirks and ":" not in reference:
            raise Refusal(400, "DIGEST_INVALID", "provided digest did not match uploaded content")
        self.known(name).delete_manifest(reference)
        return Answer(202)

    # Lists: end-8a, end-8b, end-12a, end-12b.

    def get_tags(self, request, name, reference):
        tags = self.known(name).sorted_tags()
        asked = request.query.get("n", str(self.page))
        if not re.fullmatch(r"\d{1,9}", asked):
            raise Refusal(400, "UNSUPPORTED", "n is not a number", asked)
        if "last" in request.query:
            last = request.query["last"]
            tags = [tag for tag in tags if (tag.lower(), tag) > (last.lower(), last)]
        shown = tags[:min(int(asked), self.page)]
        more = shown and len(shown) < len(tags)
        link = self.next(request, f"/v2/{name}/tags/list", n=asked, last=shown[-1]) if more else []
        return json_answer(200, {"name": name, "tags": shown}, link)

    def next(self, request, path, **query):
        return [("Link", f'<{self.url(request, path, **query)}>; rel="next"')]

    def get_referrers(self, request, name, digest):
        if "no-referrers" in request.quirks:
            return Answer(404, [("Content-Type", "text/plain")], b"404 page not found\n")
        found = self.repositories.get(name, Repository()).referrers(checked_digest(digest))
        query, headers = {}, []
        if "artifactType" in request.query and "no-filter" not in request.quirks:
            query = {"artifactType": request.query["artifactType"]}
            found = [one for one in found if one.get("artifactType") == query["artifactType"]]
            headers = [("OCI-Filters-Applied", "artifactType")]
        found = [one for one in found if one["digest"] > request.query.get("after", "")]
        shown = found[:self.page]
        if len(shown) < len(found):
            headers += self.next(request, f"/v2/{name}/referrers/{digest}", **query, after=shown[-1]["digest"])
        return json_answer(200, {"schemaVersion": 2, "mediaType": IMAGE_INDEX, "manifests": shown}, headers, IMAGE_INDEX)


def check_body(request, needs_size=True):
    if needs_size and request.headers.get("Content-Length") is None:
        raise Refusal(411, "SIZE_INVALID", "Content-Length is missing")
    if request.headers.get("Content-Type") != "application/octet-stream":
        raise Refusal(415, "BLOB_UPLOAD_INVALID", "Content-Type is not application/octet-stream", request.headers.get("Content-Type"))


def in_order(span, session, body):
    """Whether the chunk begins where the last one ended."""
    found = re.fullmatch(r"(\d+)-(\d+)", span)
    if not found or int(found[2]) - int(found[1]) + 1 != len(body):
        raise Refusal(400, "SIZE_INVALID", "Content-Range is not that of the body", span)
    return int(found[1]) == len(session.data)


def names(condition, digest):
    """Whether an If-Match or If-None-Match names what is there."""
    if condition is None or digest is None:
        return False
    return condition.strip() == "*" or f'"{digest}"' in [part.strip().removeprefix("W/") for part in condition.split(",")]


def conditions_hold(request, digest):
    wanted, unwanted = request.headers.get("If-Match"), request.headers.get("If-None-Match")
    return (wanted is None or names(wanted, digest)) and not names(unwanted, digest)


def ranged(request, data, headers):
    headers = [("Content-Type", "application/octet-stream"), ("Accept-Ranges", "bytes"), *headers]
    found = re.fullmatch(r"bytes=(\d*)-(\d*)", request.headers.get("Range", ""))
    if not found or found.groups() == ("", ""):
        return Answer(200, headers, data)
    first, last = found.groups()
    begin = int(first) if first else max(len(data) - int(last), 0)
    end = min(int(last) + 1 if first and last else len(data), len(data))
    if begin >= end:
        return Answer(416, [("Content-Range", f"bytes */{len(data)}")])
    return Answer(206, [*headers, ("Content-Range", f"bytes {begin}-{end - 1}/{len(data)}")], data[begin:end])


def scopes_of(request):
    """What a token has to allow: [(repository, action)]."""
    kind, name, _ = request.route()
    if not name or kind == "elsewhere":
        return []
    found = [(name, {"GET": "pull", "HEAD": "pull", "DELETE": "delete"}.get(request.method, "push"))]
    if kind == "session":
        found = [(name, "push")]
    if kind == "uploads" and "from" in request.query:
        found.append((request.query["from"], "pull"))
    return found
