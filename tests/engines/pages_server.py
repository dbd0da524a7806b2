#!/usr/bin/env python3
"""Serves a folder of pages on the loopback interface, and answers POST /v1/select by the real program:
pages_server.py FOLDER PORT_FILE [KILN STATE]. Without KILN it has the pages alone. The port goes into PORT_FILE."""
import functools
import http.server
import json
import os
import subprocess
import sys
import urllib.parse

MOST = 4 << 20  # bytes of a question


class Pages(http.server.SimpleHTTPRequestHandler):
    program = None

    def do_POST(self):
        where = urllib.parse.urlsplit(self.path)
        length = int(self.headers.get("Content-Length", 0))
        if self.program is None or where.path != "/v1/select" or length > MOST:
            self.send_error(404)
            return
        host = urllib.parse.parse_qs(where.query).get("host", ["any"])[0]
        asked = subprocess.run([*self.program, "select", "--dsl", "-", "--host", host, "--json", "--limit", "5"],
                               input=self.rfile.read(length), capture_output=True, check=False)
        is_answer = asked.returncode in (0, 4)
        body = asked.stdout if is_answer else json.dumps({"error": {"message": asked.stderr.decode().strip()}}).encode()
        self.send_response(200 if is_answer else 400)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


def main(arguments):
    folder, port_file, *program = arguments
    if program:
        Pages.program = [program[0], "--state", program[1]]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Pages, directory=folder))
    with open(port_file + ".new", "w", encoding="ascii") as out:
        out.write(str(server.server_address[1]))
    os.rename(port_file + ".new", port_file)
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
