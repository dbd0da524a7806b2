"""What holds a step of a test for as long as the test wants: gate.py FOLDER. A step's scripts see nothing of the test's files, but they
reach 127.0.0.1. GET /started counts who came (a line in FOLDER/starts); GET /go is 200 when FOLDER/open is there, else 404."""
import http.server
import os
import sys

folder = sys.argv[1]


class Gate(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/started":
            with open(f"{folder}/starts", "a") as starts:
                starts.write("started\n")
        self.send_response(200 if self.path == "/started" or os.path.exists(f"{folder}/open") else 404)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gate)
with open(f"{folder}/port.part", "w") as port:
    port.write(str(server.server_port))
os.rename(f"{folder}/port.part", f"{folder}/port")
server.serve_forever()
