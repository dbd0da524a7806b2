"""A webhook for tests: answers with the status that the file `status` says (default 204), and adds each body to `posted`, a line
each. Both are in its working folder.

  webhook.py FOLDER    writes FOLDER/port, and serves
"""
import pathlib
import sys

import loopback_http


class Webhook(loopback_http.Handler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = pathlib.Path("status")
        code = int(status.read_text()) if status.exists() else 204
        if code == 204:
            with open("posted", "ab") as posted:
                posted.write(body.replace(b"\n", b" ") + b"\n")
        self.answer(code)


loopback_http.Server(Webhook).announce(sys.argv[1]).serve_forever()
