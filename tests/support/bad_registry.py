"""A registry that misbehaves, over plain HTTP on the loopback interface: one image in every repository, and what is wrong
is in the repository's name.

usage: bad_registry.py FOLDER [PORT]    writes FOLDER/port when it listens, and a line for each request into FOLDER/requests

  good                 nothing is wrong
  flaky-503-2          the first two requests for a manifest get status 503 (or 500, 502, 504, 429); then all is well
  reset-2              the connection of the first two requests for the layer is reset in its middle
  cut-2                … is closed in its middle
  always-503           every request for a manifest
  forbidden-403        the same with 403
  later                429 with Retry-After: 36000, always
  soon-1               the same with Retry-After: 1 for the first request
  silent               no answer to a request for a manifest
  stalled              half of the layer, and then nothing
  trickle              a byte of the layer each second
"""
import collections, gzip, hashlib, io, json, os, re, sys, tarfile, threading, time

import loopback_http

counts, lock = collections.Counter(), threading.Lock()


def make_image():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        entry = tarfile.TarInfo("noise")
        entry.size = 300_000
        tar.addfile(entry, io.BytesIO(os.urandom(entry.size)))
    layer = gzip.compress(out.getvalue())
    digest = lambda data: "sha256:" + hashlib.sha256(data).hexdigest()
    config = json.dumps({"architecture": "amd64", "os": "linux", "config": {},
                         "rootfs": {"type": "layers", "diff_ids": [digest(out.getvalue())]}}).encode()
    described = lambda data, kind: {"mediaType": f"application/vnd.oci.image.{kind}", "digest": digest(data), "size": len(data)}
    manifest = json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                           "config": described(config, "config.v1+json"), "layers": [described(layer, "layer.v1.tar+gzip")]}).encode()
    return manifest, config, layer, {digest(data): data for data in (config, layer)}


MANIFEST, CONFIG, LAYER, BLOBS = make_image()


def first_times(repository, what):
    """Whether this is one of the first requests, as many as the repository's name ends with."""
    with lock:
        counts[repository, what] += 1
        number = re.search(r"-(\d+)$", repository)
        return number is not None and counts[repository, what] <= int(number.group(1))


class Handler(loopback_http.Handler):
    def refuse(self, status, headers=()):
        self.answer(status, [("Content-Type", "text/plain"), *headers])

    def part_of(self, data, size):
        self.head(200, len(data), [("Content-Type", "application/octet-stream")])
        self.wfile.write(data[:size])
        self.wfile.flush()
        self.close_connection = True

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        with lock, open(os.path.join(sys.argv[1], "requests"), "a") as file:
            file.write(f"{self.command} {self.path}\n")
        if self.path.rstrip("/") == "/v2":
            return self.answer(200, [("Content-Type", "application/json"), ("Docker-Distribution-Api-Version", "registry/2.0")], b"{}")
        found = re.fullmatch(r"/v2/([^/]+)/(manifests|blobs)/(.+)", self.path)
        if not found:
            return self.refuse(404)
        repository, what, name = found.groups()
        return self.manifest(repository, name) if what == "manifests" else self.blob(repository, name)

    def manifest(self, repository, name):
        status = re.match(r"(flaky|always|forbidden)-(\d+)", repository)
        if status and (status.group(1) != "flaky" or first_times(repository, "manifest")):
            return self.refuse(int(status.group(2)))
        if repository == "later":
            return self.refuse(429, [("Retry-After", "36000")])
        if repository.startswith("soon-") and first_times(repository, "manifest"):
            return self.refuse(429, [("Retry-After", "1")])
        if repository == "silent":
            time.sleep(3600)
        if name != "latest" and not name.endswith(hashlib.sha256(MANIFEST).hexdigest()):
            return self.refuse(404)  # no tag that stands for referrers
        self.answer(200, [("Content-Type", "application/vnd.oci.image.manifest.v1+json")], MANIFEST)

    def blob(self, repository, name):
        data = BLOBS.get(name)
        if data is None:
            return self.refuse(404)
        if data is LAYER and repository.startswith(("reset", "cut")) and first_times(repository, "layer"):
            self.part_of(data, len(data) // 2)
            if repository.startswith("reset"):
                self.reset()
        elif data is LAYER and repository == "stalled":
            self.part_of(data, len(data) // 2)
            time.sleep(3600)
        elif data is LAYER and repository == "trickle":
            self.part_of(data, 1)
            for byte in data[1:]:
                time.sleep(1)
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
        else:
            self.answer(200, [("Content-Type", "application/octet-stream")], data)


loopback_http.Server(Handler, int(sys.argv[2]) if len(sys.argv) > 2 else 0).announce(sys.argv[1]).serve_forever()
