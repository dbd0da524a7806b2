"""Requests that no proper client sends, byte by byte: `serve_raw.py PORT CASE`, exit code 1 with what was wrong.

Each case says what the server must do. A connection that is silent for a minute fails, too."""
import json
import select
import socket
import sys
import time

PORT = int(sys.argv[1])
GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
SELECT = b"POST /v1/select HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


def connect(source=None):
    return socket.create_connection(("127.0.0.1", PORT), timeout=60, source_address=source)


def read_all(connection, silence=0.5, answers=1):
    """All that comes until it is closed. Where it is kept: so many answers, and more until nothing has come for a while."""
    got = b""
    try:
        while part := connection.recv(65536):
            got += part
            if whole_answers(got) >= answers:
                connection.settimeout(silence)
    except (ConnectionResetError, TimeoutError):
        pass
    return got


def ask(raw, answers=1):
    """Sends all of it, and gives back all that comes."""
    with connect() as connection:
        try:
            connection.sendall(raw)
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before it was all there: the answer is
        return read_all(connection, answers=answers)


def statuses(answer):
    """The statuses of all answers, by their framing: what is left over is a failure."""
    found = []
    while answer:
        head, end, rest = answer.partition(b"\r\n\r\n")
        assert end, f"half an answer: {answer[:200]!r}"
        lines = head.split(b"\r\n")
        assert lines[0].startswith(b"HTTP/1.1 "), lines[0]
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(b":") for line in lines[1:])}
        found.append(int(lines[0].split()[1]))
        length = int(headers.get(b"content-length", b"0"))
        if found[-1] in (100, 304):
            length = 0
        assert len(rest) >= length, "the body is shorter than its length"
        answer = rest[length:]
    return found


def whole_answers(got):
    try:
        return len(statuses(got))
    except AssertionError:
        return 0


def must(raw, expected, why):
    got = statuses(ask(raw, len(expected)))
    assert got == expected, f"{why}: {got}, expected {expected}, for {raw[:200]!r}"


def smuggling():
    smuggled = b"GET /v1/snapshots HTTP/1.1\r\nHost: x\r\n\r\n"
    body = b"Content-Length: 6\r\n"
    must(GET + b"\r\n", [200], "a proper request")
    must(GET + b"\r\n" + GET + b"\r\n", [200, 200], "two of them")
    must(SELECT + body + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, [400], "both lengths")
    must(SELECT + b"Transfer-Encoding: chunked\r\n" + body + b"\r\n0\r\n\r\n" + smuggled, [400], "both lengths")
    must(SELECT + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, [411], "chunks")
    must(SELECT + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + smuggled, [411], "an encoding that is none")
    must(SELECT + b"Transfer-Encoding : chunked\r\n" + body + b"\r\n" + smuggled, [400], "a blank before the colon")
    must(SELECT + body + body + b"\r\n{}    " + smuggled, [400], "a length twice")
    must(SELECT + body + b"Content-Length: 7\r\n\r\n{}    " + smuggled, [400], "two lengths")
    # libmicrohttpd 0.9.75 writes the head of this refusal twice, and closes the connection.
    for length in (b"6, 6", b"+6", b"-1", b"0x6", b"6 6", b"", b"99999999999999999999999", b"6;q"):
        got = ask(SELECT + b"Content-Length: " + length + b"\r\n\r\n{}    " + smuggled)
        assert got[9:12] in (b"400", b"413") and b"Connection: close" in got and b"created" not in got, (length, got)
    must(GET.replace(b"\r\n", b"\n") + b"\n" + smuggled, [400], "bare LF")
    must(GET + b"X: a\nContent-Length: 40\r\n\r\n" + smuggled, [400], "bare LF in a header")
    must(GET + b"X: a\r\n\n" + smuggled, [400], "bare LF at the end of the head")
    must(GET + b"X: a\n\r\n" + smuggled, [400], "bare LF before it")
    must(GET + b"X: a\n\n" + smuggled, [400], "two of them")
    must(GET + b"X: a\rContent-Length: 40\r\n\r\n" + smuggled, [400], "bare CR in a header")
    must(GET + b"X: a\0b\r\n\r\n" + smuggled, [400], "NUL in a header")
    must(GET + b"X: a\0\0Content-Length: 40\r\n\r\n" + smuggled, [400], "two NULs in a header")
    must(GET + b"X: a\r\n b\r\n\r\n" + smuggled, [400], "a header that goes on")
    must(GET + b"X: a\r\n Content-Length: 40\r\n\r\n" + smuggled, [400], "a header that goes on")
    must(GET + b"X\r\n\r\n" + smuggled, [400], "a header without a colon")
    must(GET + b": x\r\n\r\n" + smuggled, [400], "a header without a name")
    must(GET + b"X@(): x\r\n\r\n" + smuggled, [400], "a name that is none")
    must(GET + b"Host: y\r\n\r\n" + smuggled, [400], "two hosts")
    must(b"GET /healthz HTTP/1.1\r\n\r\n" + smuggled, [400], "no host")
    must(b"GET  /healthz HTTP/1.1\r\nHost: x\r\n\r\n" + smuggled, [400], "two blanks")
    must(b"GET /healthz HTTP/1.1 \r\nHost: x\r\n\r\n", [400], "a blank behind the version")
    must(b"GET /healthz\tHTTP/1.1\r\nHost: x\r\n\r\n", [400], "a tab")
    must(GET + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, [411], "chunks of a GET")
    must(GET + b"Content-Length: 45\r\n\r\n" + b"x" * 45 + GET + b"\r\n", [200, 200], "a body of a GET is read")
    must(b"\r\n\r\n" + GET + b"\r\n", [200], "empty lines before it (RFC 9112, section 2.2)")


def targets():
    for target, expected in {
        b"http://x/healthz": 200, b"http://a@x/healthz": 400, b"x:443": 400, b"*": 400, b"healthz": 400,
        b"/../etc/passwd": 400, b"/v1/../healthz": 400, b"/v1/%2e%2e/healthz": 400, b"/%2E/healthz": 400,
        b"//healthz": 400, b"/healthz/": 400, b"/v1//images": 400, b"/healthz%00": 400, b"/healthz%0a": 400,
        b"/healthz%": 400, b"/healthz%zz": 400, b"/%ff": 400, b"/healthz#x": 400,
        b"/v1/images?limit=1&limit=2": 400, b"/v1/images?limit=%00": 400, b"/v1/images?=1": 400,
        b"/v1/images?" + b"&".join(b"a%d=1" % i for i in range(70)): 400,
        b"/etc/passwd": 404, b"/%2fetc%2fpasswd": 404, b"/v1/images/..%2f..%2fetc/passwd": 404,
        b"/container_mappings/..%2f..%2fetc%2fpasswd": 404, b"/Healthz": 404, b"/healthz;x": 404,
        b"/healthz": 200, b"/%68ealthz": 200, b"/v1/snapshots?": 200,
    }.items():
        must(b"GET " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n", [expected], "a target")
    got = statuses(ask(b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"))
    assert got == [414], got
    got = statuses(ask(GET + b"X: " + b"a" * 100_000 + b"\r\n\r\n"))
    assert got == [431], got
    got = statuses(ask(GET + b"".join(b"X%d: y\r\n" % i for i in range(5000)) + b"\r\n"))
    assert got == [431], got


def bodies():
    must(SELECT + b"Content-Length: 1073741824\r\n\r\n", [413], "a body of 1 GB")
    must(SELECT + b"Content-Length: 1048577\r\n\r\n", [413], "a byte too much")
    must(SELECT + b"Content-Length: 1073741824\r\nExpect: 100-continue\r\n\r\n", [413], "asked before it is sent")
    must(SELECT + b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n{}", [100, 400], "one that may come")
    with connect() as connection:  # it is sent all the same
        connection.sendall(SELECT + b"Content-Length: 1073741824\r\n\r\n")
        sent = 0
        try:
            while sent < 200 << 20:
                sent += connection.send(b" " * 65536)
            raise AssertionError(f"{sent} bytes went in")
        except (BrokenPipeError, ConnectionResetError):
            pass


def slow():
    """With --request-time 2: a byte now and then does not keep a connection."""
    for begin in (b"", b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: ", SELECT + b"Content-Length: 1000\r\n\r\n"):
        start = time.monotonic()
        with connect() as connection:
            connection.sendall(begin)
            connection.settimeout(0.2)
            closed = False
            while not closed and time.monotonic() - start < 60:
                try:
                    connection.sendall(b" ")
                    closed = connection.recv(1) == b""
                except TimeoutError:
                    pass
                except (BrokenPipeError, ConnectionResetError):
                    closed = True
            spent = time.monotonic() - start
            assert closed and spent >= 1.9, f"{begin[:10]!r} was cut after {spent:.1f} s"


def crowd():
    """With --per-address 20: one address cannot have all connections, and others still get in."""
    waiting = [connect() for _ in range(40)]
    for _ in range(20):
        ready, _, _ = select.select(waiting, [], [], 60)
        assert ready, f"{len(waiting)} connections of one address"
        waiting.remove(ready[0])
        try:
            said = ready[0].recv(12)
            assert said == b"HTTP/1.1 503", said
        except ConnectionResetError:
            pass
    for connection in waiting:
        connection.sendall(GET + b"\r\n")
        assert connection.recv(12) == b"HTTP/1.1 200", "one of the first 20 is refused"
    with connect(("127.0.0.2", 0)) as connection:
        connection.sendall(GET + b"Connection: close\r\n\r\n")
        assert statuses(read_all(connection)) == [200]


def tokens():
    """Wrong tokens wait for a second, then they are refused; the right one (argument 3) does neither."""
    def post(token):
        body = json.dumps({"opt_dsl_code": "by-token", "app_name": "x", "container_name": "y"}).encode()
        start = time.monotonic()
        got = statuses(ask(b"POST /container_mappings HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                           b"Authorization: Bearer " + token + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body))
        return got[0], time.monotonic() - start

    right = sys.argv[3].encode()
    for wrong in (b"x", right[:-1], right + b"0", right.upper()):
        status, seconds = post(wrong)
        assert status == 401 and seconds >= 0.9, (wrong, status, seconds)
    request = (b"POST /container_mappings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\n"
               b"Content-Length: 0\r\n\r\n")

    def all_at_once():
        crowd = [connect() for _ in range(40)]
        start = time.monotonic()
        for connection in crowd:
            connection.sendall(request)
        return [statuses(read_all(connection, 0.01))[0] for connection in crowd], time.monotonic() - start

    all_statuses, seconds = all_at_once()
    assert all_statuses.count(429) >= 20 and set(all_statuses) == {401, 429}, all_statuses
    # A busy machine makes some of the answers late, and a server that waits makes all of them late.
    if seconds >= 5:
        assert any(all_at_once()[1] < 5 for _ in range(10)), "they wait one after the other"
    for _ in range(60):
        status, seconds = post(right)
        assert status == 201, status
        if seconds < 0.9:
            return
    raise AssertionError("the right token waits")


try:
    globals()[sys.argv[2]]()
except AssertionError as problem:
    sys.exit(f"{sys.argv[2]}: {problem}")
