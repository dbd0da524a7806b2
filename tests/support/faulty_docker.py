"""A Docker daemon with a fault, in front of the real one: faulty_docker.py REAL_SOCKET SOCKET FAULT.

Words go through as they are, but for those that start a script's container and wait for it:
  crash    it goes away in the middle of the word
  hang     it never answers
  session  it starts the container, and never says how that ended
  flood    its answer does not end
  full     its disk is full
  nothing  it reports that the script is done, but has not started it
"""
import re
import socket
import socketserver
import sys
import threading
import time

REAL, OWN, FAULT = sys.argv[1:4]
STARTS = re.compile(rb"^POST /(v[0-9.]+/)?containers/[^/ ]+/start ")
WAITS = re.compile(rb"^POST /(v[0-9.]+/)?containers/[^/ ]+/wait ")


def answer(status, body):
    return b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (status, len(body), body)


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Connection(socketserver.BaseRequestHandler):
    def handle(self):
        head = self.request.recv(65536)
        starts, waits = STARTS.match(head), WAITS.match(head)
        if starts and FAULT == "crash":
            return
        if (starts and FAULT == "hang") or (waits and FAULT == "session"):
            while True:
                time.sleep(60)
        if starts and FAULT == "flood":
            self.request.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            while True:
                self.request.sendall(b"all work and no play\n" * 4096)
        if starts and FAULT == "full":
            return self.request.sendall(answer(b"500 Internal Server Error", b'{"message": "write /var/lib/docker/x: no space left on device"}'))
        if FAULT == "nothing" and (starts or waits):
            return self.request.sendall(answer(b"200 OK", b'{"StatusCode": 0}'))
        with socket.socket(socket.AF_UNIX) as real:
            real.connect(REAL)
            real.sendall(head)
            back = threading.Thread(target=pump, args=(real, self.request), daemon=True)
            back.start()
            pump(self.request, real)
            back.join()


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # who asks goes away when it has enough


Server(OWN, Connection).serve_forever()
