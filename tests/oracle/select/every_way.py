"""Every case of random worlds, asked of one index in every way that kiln is asked: the command line, the C interface, the C++ header,
the Python module and HTTP. Status, answer and words are equal, byte by byte, and the winner is the oracle's.

The folder PREFIX is an installation; WORLD_INDEX makes an index of a world; ASK_C and ASK_CPP are tests/abi/ask.c and ask.cc."""
import argparse
import http.client
import json
import locale
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from compare import NONE, Judged
from image import Image
from world import World

ALLOW_FAILING = 1


class CommandLine:
    def __init__(self, options, state):
        self.kiln, self.state = options.prefix / "bin/kiln", state

    def __call__(self, document, host, allow_failing):
        folder = self.state.parent
        (folder / "document").write_bytes(document)
        words = [self.kiln, "--state", self.state, "select", "--json", "--dsl", "document"]
        words += ["--allow-failing"] if allow_failing else []
        if host == "any":
            words += ["--host", "any"]
        else:
            (folder / "host").write_text(host, encoding="utf-8")
            words += ["--host", "host"]
        done = subprocess.run(words, cwd=folder, capture_output=True, check=False)
        lines = [line for line in done.stderr.decode().splitlines() if not line.startswith(("document:", "note:")) or "error:" in line]
        return done.returncode, done.stdout.decode(), "\n".join(lines)


class Asker:
    """ask.c or ask.cc."""

    def __init__(self, program, state):
        self.program = subprocess.Popen([program, state], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, document, host, allow_failing):
        self.program.stdin.write(b"\0".join([str(ALLOW_FAILING if allow_failing else 0).encode(), host.encode(), document, b""]))
        self.program.stdin.flush()
        status, answer, error = (self._text() for _ in range(3))
        return int(status), answer, error

    def _text(self):
        text = bytearray()
        while (byte := self.program.stdout.read(1)) != b"\0":
            if not byte:
                raise RuntimeError(f"the program ended with {self.program.wait()}")
            text += byte
        return text.decode()

    def close(self):
        self.program.stdin.close()
        if self.program.wait() != 0:
            raise RuntimeError(f"the program ended with {self.program.returncode}")


class Module:
    def __init__(self, options, state):
        sys.path.insert(0, str(options.prefix / "lib/python3/dist-packages"))
        import kiln  # noqa: PLC0415, of the prefix

        locale.setlocale(locale.LC_ALL, os.environ.get("KILN_LOCALE", "C"))  # whose commas are no business of the library

        self.kiln, self.registry = kiln, kiln.Registry(state)

    def __call__(self, document, host, allow_failing):
        try:
            return 0, self.registry.select(document, host=host, allow_failing=allow_failing), ""
        except self.kiln.Error as error:
            return error.code, getattr(error, "answer", None), str(error)


class Served:
    """`kiln serve`. Its errors are objects: here in the words of the command line."""

    EXIT_CODES = {200: 0, 400: 3, 404: 4, 500: 8}

    def __init__(self, options, state):
        words = [options.prefix / "bin/kiln", "--state", state, "serve", "--listen", "127.0.0.1:0"]
        self.program = subprocess.Popen(words, cwd=state.parent, stderr=subprocess.PIPE, text=True)
        line = self.program.stderr.readline()
        if "serving on " not in line:
            raise RuntimeError(f"kiln serve says {line!r}")
        self.http = http.client.HTTPConnection(line.rsplit(" ", 1)[1].strip(), timeout=30)

    def __call__(self, document, host, allow_failing):
        target = "/v1/select" + ("?allow_failing=1" if allow_failing else "")
        target += "" if host != "any" else ("&" if "?" in target else "?") + "host=any"
        body = document if host == "any" else b'{"dsl": ' + document + b', "host": ' + host.encode() + b"}"
        self.http.request("POST", target, body, {"Content-Type": "application/json"})
        response = self.http.getresponse()
        answer = json.loads(response.read())
        # The document begins in the body behind a few bytes.
        back = 0 if body is document else body.index(document)
        answer.update({"notes": [re.sub(r"^document:1:(\d+)", lambda place: f"document:1:{int(place[1]) - back}", note) for note in answer.get("notes", [])]})
        error = answer.pop("error", None) if response.status != 200 else None
        said = "; ".join(error[key] for key in ("message", "hint") if key in error) if error else ""
        return self.EXIT_CODES[response.status], answer, said

    def close(self):
        self.http.close()
        self.program.terminate()
        if self.program.wait(30) != 0:
            raise RuntimeError(f"kiln serve ended with {self.program.returncode}")


def identity(answer):
    chosen = answer["selected"] if answer else None
    if not chosen:
        return NONE
    return chosen.get("reference", chosen["name"]), chosen.get("code", ""), chosen.get("manifest", "")


def differences(case, question, host, ways, wanted):
    document = json.dumps(question.document, ensure_ascii=False).encode()
    host_text = json.dumps(host, ensure_ascii=False) if host else "any"
    got = {name: ask(document, host_text, question.allow_failing) for name, ask in ways.items()}
    status, text, error = got["command line"]
    answer = json.loads(text) if text else None
    for name, (other_status, other_text, other_error) in got.items():
        same = other_text == (answer if name in ("Python", "HTTP") else text)
        said = other_error == error
        if name == "HTTP":
            # What is damaged, and what is no question, has no answer beside its error; where it stands in the document is not in the words.
            same = same or status in (3, 8)
            said = error == other_error or error.endswith("error: " + other_error) or status == 3
        if other_status != status or not said or not same:
            yield f"case {case}: {name} says {other_status}, {other_error!r}, {str(other_text)[:300]!r}; the command line {status}, {error!r}, {text[:300]!r}"
    if identity(answer) != wanted:
        yield f"case {case}: the oracle's is {wanted}, the command line's {identity(answer)}, {error!r}"


def ask_world(options, world, folder):
    state = folder / "state"
    made = subprocess.run([options.world_index, state], input=world.text().encode() + b"\n", check=False)
    if made.returncode == 4:
        return 0, []
    if made.returncode != 0:
        sys.exit(f"no index of seed {world.seed}: exit code {made.returncode}")
    askers = [Asker(program, state) for program in (options.ask_c, options.ask_cpp)]
    served = Served(options, state)
    ways = {"command line": CommandLine(options, state), "C": askers[0], "C++": askers[1], "Python": Module(options, state), "HTTP": served}
    images = [Image(row) for row in world.rows]
    found = []
    for case, (question, host) in enumerate(world.cases):
        found += differences(case, question, host, ways, Judged(images, question, host).answer())
    for asker in (*askers, served):
        asker.close()
    return len(world.cases), [f"seed {world.seed}, {text}" for text in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--prefix", "--world-index", "--ask-c", "--ask-cpp"):
        parser.add_argument(name, type=pathlib.Path, required=True)
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    options = parser.parse_args()
    os.environ.pop("SINGULARITY_DIR", None)
    cases, found = 0, []
    for seed in range(options.first, options.first + options.worlds):
        with tempfile.TemporaryDirectory() as folder:
            asked, different = ask_world(options, World(seed, stock=False), pathlib.Path(folder))
        cases += asked
        found += different
    for text in found[:10]:
        print(text)
    print(f"{cases} cases, {len(found)} differ")
    sys.exit(1 if found or cases == 0 else 0)


if __name__ == "__main__":
    main()
