"""What the servers of the tests share: HTTP/1.1 on the loopback interface, in threads that nobody waits for, with or without TLS."""
import http.server
import os
import pathlib
import socket
import ssl
import struct
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes

    def log_message(self, *_):
        pass

    def head(self, status, size, headers=()):
        """The status line and the headers, of a body of so many bytes."""
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if status not in (204, 304):
            self.send_header("Content-Length", str(size))
        self.end_headers()

    def answer(self, status, headers=(), body=b""):
        self.head(status, len(body), headers)
        if self.command != "HEAD":
            self.wfile.write(body)

    def reset(self):
        """Ends the connection as a machine does that forgot it: the client's next read or write fails."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, handler, port=0, certificate=None, key=None):
        super().__init__(("127.0.0.1", port), handler)
        self.port = self.server_address[1]
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate, key)

    def finish_request(self, request, address):
        # In the connection's own thread: a client that does not shake hands keeps nobody else waiting.
        if not self.context:
            return super().finish_request(request, address)
        with self.context.wrap_socket(request, server_side=True) as secured:
            super().finish_request(secured, address)

    def handle_error(self, request, address):
        pass  # whoever was waited for has gone

    def in_background(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def announce(self, folder):
        """Writes FOLDER/port, whole: whoever waits for the file reads a number."""
        part = pathlib.Path(folder) / "port.part"
        part.write_text(str(self.port))
        os.rename(part, pathlib.Path(folder) / "port")
        return self
