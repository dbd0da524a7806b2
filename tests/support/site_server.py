"""What a site's network has, on the loopback interface: site_server.py NAME:PASSWORD FOLDER CERTIFICATE KEY

Prints two ports. The first speaks HTTP: a proxy that wants the name and the password, and the files of FOLDER/www for everybody.
The second speaks TLS: the same files for those who show the password. Whoever asked with it is a line of FOLDER/asked, whoever should
have and did not one of FOLDER/refused. Stops with its standard input.
"""
import base64
import http.server
import pathlib
import ssl
import sys
import threading
import urllib.error
import urllib.request

WANTED = "Basic " + base64.b64encode(sys.argv[1].encode()).decode()
FOLDER = pathlib.Path(sys.argv[2])
LOCK = threading.Lock()


def note(name, line):
    with LOCK, open(FOLDER / name, "a", encoding="utf-8") as file:
        file.write(line + "\n")


class Site(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wants_password = False

    def __init__(self, *arguments):
        super().__init__(*arguments, directory=str(FOLDER / "www"))

    def log_message(self, *_):
        pass

    def answer(self, status, headers, body):
        self.send_response(status)
        for name in ("Content-Type", "Content-Range", "Last-Modified", "WWW-Authenticate"):
            if headers.get(name):
                self.send_header(name, headers[name])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def forward(self):
        if self.headers.get("Proxy-Authorization") != WANTED:
            note("refused", self.path)
            self.answer(407, {}, b"")
            return
        note("asked", "proxy " + self.path)
        if self.headers.get("Authorization") == WANTED:
            note("asked", "archive " + self.path)
        passed_on = {name: self.headers[name] for name in ("Range", "If-Range") if self.headers.get(name)}
        try:
            with urllib.request.urlopen(urllib.request.Request(self.path, headers=passed_on), timeout=60) as got:
                self.answer(got.status, got.headers, got.read())
        except urllib.error.HTTPError as error:
            self.answer(error.code, error.headers, error.read())

    def do_GET(self):
        if not self.path.startswith("/"):
            self.forward()
            return
        if self.wants_password and self.headers.get("Authorization") != WANTED:
            # git shows its password only when it is asked for one.
            note("refused" if self.headers.get("Authorization") else "challenged", self.path)
            self.answer(401, {"WWW-Authenticate": 'Basic realm="site"'}, b"")
            return
        if self.wants_password:
            note("asked", "file " + self.path)
        super().do_GET()


class Closed(Site):
    wants_password = True


def serve(handler, context=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(sys.argv[3], sys.argv[4])
print(serve(Site), serve(Closed, tls), flush=True)
sys.stdin.read()
