"""A registry of ours, from the request table of the OCI distribution specification 1.1.1, in memory, on the loopback interface.

usage: registry_double.py FOLDER [--port N] [--tls CERTIFICATE KEY] [--auth none|basic|bearer] [--relative] [--page N] [--token-seconds N]

Writes FOLDER/port when it listens, and a line for each request into FOLDER/requests before it is answered:
  METHOD TARGET STATUS authorized|anonymous        STATUS may be held, stalled, reset, lost, or left: the client went within its body
FOLDER/users: who may ask (registry_access.py). FOLDER/faults: what goes wrong (registry_faults.py). Both may change while it runs.
What a request may leave out, and what a registry may: registry_protocol.py. Locations are absolute (or --relative), on another path
than that of the request and with a query that counts; lists come in pages of N.
"""
import argparse
import os
import pathlib
import sys
import threading
import time

import loopback_http
from registry_access import Access
from registry_faults import Faults, answer_of
from registry_protocol import Registry, Request


class Left(Exception):
    """The client went within its request."""


class Handler(loopback_http.Handler):
    def speed(self):
        return next((int(fault[5:]) for fault in self.faults if fault.startswith("slow:")), None)

    def read(self, size):
        speed, data = self.speed(), b""
        while len(data) < size:
            piece = self.rfile.read(min(size - len(data), max(speed // 10, 1) if speed else size))
            if not piece:
                raise Left
            data += piece
            if speed:
                time.sleep(len(piece) / speed)
        return data

    def body(self):
        """The request's body; half of it where the connection is to be reset."""
        part = 0.5 if "reset" in self.faults else 1
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.read(int(int(self.headers.get("Content-Length") or 0) * part))
        data = b""
        while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            data += self.read(size)
            self.read(2)
            if part < 1:
                return data
        self.rfile.readline()
        return data

    def note(self, status, authorized=False):
        with LOCK, open(FOLDER / "requests", "a", encoding="utf-8") as file:
            file.write(f"{self.command} {self.path} {status} {'authorized' if authorized else 'anonymous'}\n")

    def serve(self):
        try:
            self.faults = FAULTS.of(self.command, self.path)
        except ValueError as error:
            print(error, file=sys.stderr, flush=True)
            os._exit(2)
        early = [answer_of(fault) for fault in self.faults if fault.startswith("early:")]
        if early:
            self.close_connection = True
            return self.send(early[0])
        try:
            body = self.body()
        except (Left, OSError):
            self.close_connection = True
            return self.note("left")
        if "reset" in self.faults:
            self.note("reset")
            return self.reset()
        if "stall" in self.faults:
            self.note("stalled")
            time.sleep(3600)
        if "hold" in self.faults:
            self.note("held")
            while not (FOLDER / "release").exists():
                time.sleep(0.02)
        scheme = "https" if self.server.context else "http"
        site = f"{scheme}://{self.headers.get('Host', f'127.0.0.1:{self.server.port}')}"
        self.decide(Request(self.command, self.path, self.headers, body, site, frozenset(self.faults)))

    def decide(self, request):
        broken = next(filter(None, map(answer_of, self.faults)), None)
        if broken:
            # A 401 without its challenge would be another fault.
            return self.send(ACCESS.challenge(request) if broken.status == 401 else broken)
        if request.path == "/token" and ACCESS.mode == "bearer":
            answer = ACCESS.token(request)
            return self.send(answer, answer.status == 200)
        refusal = ACCESS.refusal(request)
        if refusal:
            return self.send(refusal)
        self.send(REGISTRY.act(request), ACCESS.mode != "none" and "Authorization" in self.headers)

    def send(self, answer, authorized=False):
        if "lost" in self.faults:
            self.note("lost", authorized)
            return self.reset()
        self.note(answer.status, authorized)
        if "lie" in self.faults:
            answer.headers = [(name, "sha256:" + "0" * 64 if name == "Docker-Content-Digest" else value) for name, value in answer.headers]
        body, size = answer.body, len(answer.body)
        if "corrupt" in self.faults and body:
            body = body[:size // 2] + bytes([body[size // 2] ^ 1]) + body[size // 2 + 1:]
        if "cut" in self.faults:
            body, self.close_connection = body[:size // 2], True
        self.head(answer.status, size, [("Docker-Distribution-Api-Version", "registry/2.0"), *answer.headers])
        if self.command != "HEAD":
            self.trickle(body)

    def trickle(self, body):
        speed = self.speed()
        step = max(speed // 10, 1) if speed else max(len(body), 1)
        for place in range(0, len(body), step):
            if speed:
                time.sleep(step / speed)
            self.wfile.write(body[place:place + step])

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = serve


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tls", nargs=2, default=(None, None))
    parser.add_argument("--auth", choices=("none", "basic", "bearer"), default="none")
    parser.add_argument("--relative", action="store_true")
    parser.add_argument("--page", type=int, default=1000)
    parser.add_argument("--token-seconds", type=int, default=300)
    return parser.parse_args()


ARGS = arguments()
FOLDER, LOCK = ARGS.folder, threading.Lock()
FAULTS = Faults(FOLDER / "faults")
ACCESS = Access(ARGS.auth, FOLDER, ARGS.token_seconds)
REGISTRY = Registry(absolute=not ARGS.relative, page=ARGS.page)
loopback_http.Server(Handler, ARGS.port, *ARGS.tls).announce(FOLDER).serve_forever()
