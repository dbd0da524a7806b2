"""A Python package index on the loopback interface: package_index.py FOLDER

Answers GET /simple/NAME/ with FOLDER/NAME.json (PEP 691) or FOLDER/NAME.html (PEP 503), to those who show the name and the password
of FOLDER/password, if that is there; with the status of FOLDER/NAME.status, if there is one; byte by byte, five in a second, with FOLDER/NAME.slow. FOLDER/asked has a line for each request,
and FOLDER/port the port as soon as it listens. Stops with its standard input.
"""
import base64
import pathlib
import sys
import time

import loopback_http

FOLDER = pathlib.Path(sys.argv[1])
TYPES = {"json": "application/vnd.pypi.simple.v1+json", "html": "text/html; charset=UTF-8"}


class Index(loopback_http.Handler):
    def do_GET(self):
        with open(FOLDER / "asked", "a", encoding="utf-8") as file:
            file.write(self.path + "\n")
        name = self.path.removeprefix("/simple/").rstrip("/")
        status = FOLDER / f"{name}.status"
        if status.exists():
            self.answer(int(status.read_text()))
            return
        password = FOLDER / "password"
        if password.exists():
            wanted = "Basic " + base64.b64encode(password.read_bytes().strip()).decode()
            if self.headers.get("Authorization") != wanted:
                self.answer(401)
                return
        for ending, kind in TYPES.items():
            page = FOLDER / f"{name}.{ending}"
            if "/" not in name and page.exists():
                body = page.read_bytes()
                self.head(200, len(body), [("Content-Type", kind)])
                step = 1 if (FOLDER / f"{name}.slow").exists() else len(body)
                for at in range(0, len(body), max(step, 1)):
                    self.wfile.write(body[at:at + step])
                    time.sleep(0.2 if step == 1 else 0)
                return
        self.answer(404)


loopback_http.Server(Index).in_background().announce(FOLDER)
sys.stdin.read()
