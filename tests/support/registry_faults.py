"""What goes wrong, and when: FOLDER/faults, read before each request.

A line is METHOD PATTERN FAULT [COUNT [SKIP]]: the method or *, a regular expression that is searched in path and query, what happens,
how often (always), and how many such requests pass before. Whoever writes the file anew arms all its lines anew. Faults:
  401 403 404 429 500 503 507 …   this status; 429:5 with Retry-After of five seconds, 429:date+5 with the date in five seconds
  html:502          this status with a page of HTML, as a proxy's
  early:413         this status before the body was read, and the end of the connection
  full              500 with the words of Debian's docker-registry on a full disk
  slow:100          100 bytes a second, in and out
  stall             no answer
  hold              nothing is done before FOLDER/release is there; the line in FOLDER/requests says held first
  reset             the connection is reset in the middle of the request's body
  lost              what was asked is done, and the connection is reset instead of the answer
  cut               half of the answer's body, then the end
  corrupt           one bit of the answer's body is another
  lie               Docker-Content-Digest is of something else
and the quirks of registry_protocol.py. A line that is none of this ends the registry with exit code 2.
"""
import email.utils
import json
import os
import re
import threading
import time

from registry_protocol import Answer, Refusal, refused

KNOWN = re.compile(r"\d{3}(:(date\+)?\d+)?|(html|early):\d{3}|full|slow:\d+|stall|hold|reset|lost|cut|corrupt|lie|session|redirect|forget"
                   r"|no-referrers|no-filter|no-conditions|no-delete|no-tag-delete")
CODES = {401: "UNAUTHORIZED", 403: "DENIED", 404: "MANIFEST_UNKNOWN", 405: "UNSUPPORTED", 429: "TOOMANYREQUESTS"}


class Faults:
    def __init__(self, path):
        self.path, self.stamp, self.lines, self.lock = path, None, [], threading.Lock()

    def read(self):
        try:
            state = os.stat(self.path)
            stamp = (state.st_ino, state.st_mtime_ns, state.st_size)
            if stamp != self.stamp:
                with open(self.path, encoding="utf-8") as file:
                    self.lines = [parsed(line) for line in file if line.strip()]
                self.stamp = stamp
        except FileNotFoundError:
            self.stamp, self.lines = None, []

    def of(self, method, target):
        """What goes wrong with this request, in the order of the lines."""
        found = []
        with self.lock:
            self.read()
            for line in self.lines:
                if line["method"] not in ("*", method) or not line["pattern"].search(target):
                    continue
                line["seen"] += 1
                if line["skip"] < line["seen"] <= line["skip"] + line["count"]:
                    found.append(line["fault"])
        return found


def parsed(line):
    words = line.split()
    if not 3 <= len(words) <= 5 or not KNOWN.fullmatch(words[2]):
        raise ValueError(f"not a fault: {line}")
    count, skip = (int(words[place]) if len(words) > place else default for place, default in ((3, 1 << 60), (4, 0)))
    return {"method": words[0], "pattern": re.compile(words[1]), "fault": words[2], "count": count, "skip": skip, "seen": 0}


def answer_of(fault):
    """The answer that a fault is, or None if it is of another kind."""
    if fault == "full":
        detail = {"Op": "write", "Path": "/var/lib/registry/data", "Err": 28, "message": "no space left on device"}
        return Answer(500, [("Content-Type", "application/json")],
                      json.dumps({"errors": [{"code": "UNKNOWN", "message": "unknown error", "detail": detail}]}).encode())
    kind, _, rest = fault.partition(":")
    if kind == "html":
        page = f"<html><head><title>{rest}</title></head><body><h1>{rest}</h1><hr>a proxy on the way</body></html>\n"
        return Answer(int(rest), [("Content-Type", "text/html")], page.encode())
    status = rest if kind == "early" else kind
    if not status.isdigit():
        return None
    answer = refused(Refusal(int(status), CODES.get(int(status), "UNKNOWN"), "a fault of the test"))
    if kind.isdigit() and rest.startswith("date+"):
        answer.headers.append(("Retry-After", email.utils.formatdate(time.time() + int(rest[5:]), usegmt=True)))
    elif kind.isdigit() and rest:
        answer.headers.append(("Retry-After", rest))
    return answer
