"""What a site's network has, on the loopback interface: site_server.py NAME:PASSWORD FOLDER CERTIFICATE KEY

Prints two ports. The first speaks HTTP: a proxy that wants the name and the password, and the files of FOLDER/www for everybody.
The second speaks TLS: the same files for those who show the password. Whoever asked with it is a line of FOLDER/asked, whoever should
have and did not one of FOLDER/refused. Stops with its standard input.
"""
import base64
import http.server
import pathlib
import sys
import threading
import urllib.error
import urllib.request

import loopback_http

WANTED = "Basic " + base64.b64encode(sys.argv[1].encode()).decode()
FOLDER = pathlib.Path(sys.argv[2])
LOCK = threading.Lock()


def note(name, line):
    with LOCK, open(FOLDER / name, "a", encoding="utf-8") as file:
        file.write(line + "\n")


class Site(loopback_http.Handler, http.server.SimpleHTTPRequestHandler):
    wants_password = False

    def __init__(self, *arguments):
        super().__init__(*arguments, directory=str(FOLDER / "www"))

    def pass_on(self, status, headers, body):
        kept = ("Content-Type", "Content-Range", "Last-Modified", "WWW-Authenticate")
        self.answer(status, [(name, headers[name]) for name in kept if headers.get(name)], body)

    def forward(self):
        if self.headers.get("Proxy-Authorization") != WANTED:
            note("refused", self.path)
            self.answer(407)
            return
        note("asked", "proxy " + self.path)
        if self.headers.get("Authorization") == WANTED:
            note("asked", "archive " + self.path)
        passed_on = {name: self.headers[name] for name in ("Range", "If-Range") if self.headers.get(name)}
        try:
            with urllib.request.urlopen(urllib.request.Request(self.path, headers=passed_on), timeout=60) as got:
                self.pass_on(got.status, got.headers, got.read())
        except urllib.error.HTTPError as error:
            self.pass_on(error.code, error.headers, error.read())

    def do_GET(self):
        if not self.path.startswith("/"):
            self.forward()
            return
        if self.wants_password and self.headers.get("Authorization") != WANTED:
            # git shows its password only when it is asked for one.
            note("refused" if self.headers.get("Authorization") else "challenged", self.path)
            self.answer(401, [("WWW-Authenticate", 'Basic realm="site"')])
            return
        if self.wants_password:
            note("asked", "file " + self.path)
        super().do_GET()


class Closed(Site):
    wants_password = True


http_port = loopback_http.Server(Site).in_background().port
tls_port = loopback_http.Server(Closed, certificate=sys.argv[3], key=sys.argv[4]).in_background().port
print(http_port, tls_port, flush=True)
sys.stdin.read()
