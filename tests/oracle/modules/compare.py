#!/usr/bin/env python3
"""Hostile texts, quoted by kiln, are read back by the languages themselves: Lua, Tcl, YAML, TOML and Python.

  compare.py --program BUILD/tests/module_cases [--texts 5000] [--seed 0]

TOML is read from Python 3.11 on. A language that is not installed is left out, and named on stdout; YAML's readers, PyYAML and
ruamel.yaml, are those of .cache/validators (ci/setup --validators).
"""
import argparse
import ast
import json
import pathlib
import random
import shutil
import subprocess
import tempfile

VALIDATORS = pathlib.Path(__file__).resolve().parents[3] / ".cache/validators/bin/python3"
PIECES = ['"', "'", "\\", "\\\\", "$", "${HOME}", "[exec id]", "{", "}", "{{", "]]", "[[", "--", "#", ";", "`id`", "$(id)", "\n", "\r", "\t",
          "\x00", "\x01", "\x1b", "\x7f", "\x80", "\x85", "\x9f", "\xa0", "\u2028", "\u2029", "\ufeff", "\ufffe", "\uffff", "é", "😀", ": ", "- ",
          "%", "&", "*", "!", "|", ">", "@", " ", "  ", "a", "0", "9", "f", "x41", "u0041", "U00000041", "N", "\\x41", "\\u0041", "\\101", "'''",
          '"""', "${", "$$", "true", "null", "~", "=", "<<", "%Module", "//", "/*", "*/"]


def texts(count, seed):
    chance = random.Random(seed)
    yield from PIECES
    yield from (chr(code) for code in range(0x100))
    for _ in range(count):
        yield "".join(chance.choice(PIECES) for _ in range(chance.randint(0, 12)))


def literals(program, language, values):
    lines = "".join(value.encode().hex() + "\n" for value in values)
    out = subprocess.run([program, language], input=lines.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()
    found = out.split("\n")[:-1]
    if len(found) != len(values):
        raise SystemExit(f"{language}: {len(found)} lines for {len(values)} texts")
    return found


def run_script(words, text):
    """The lines that a script prints, hex digits each, as texts."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8", newline="") as script:
        script.write(text)
        script.flush()
        done = subprocess.run([*words, script.name], stdout=subprocess.PIPE, check=True)
    return [bytes.fromhex(line).decode() for line in done.stdout.decode().split("\n")[:-1]]


def read_lua(found):
    head = 'local function show(text) print((text:gsub(".", function(c) return string.format("%02x", c:byte()) end))) end\n'
    return run_script(["lua5.3"], head + "".join(f"show({one})\n" for one in found))


def read_tcl(found):
    show = "proc show {text} { puts [binary encode hex [encoding convertto utf-8 $text]] }\n"
    # Within the braces of a procedure, as in the help of a modulefile.
    return run_script(["tclsh8.6", "-encoding", "utf-8"], show + "".join(f"proc one {{}} {{\n  show {one}\n}}\none\n" for one in found))


def read_yaml(found):
    reader = ("import json, sys, yaml, ruamel.yaml\nfor line in sys.stdin.buffer:\n text = b'key: ' + line\n"
              " one, other = yaml.safe_load(text), ruamel.yaml.YAML(typ='safe', pure=True).load(text)\n"
              " assert one == other, (one, other)\n print(json.dumps(one['key']))\n")
    lines = "".join(one + "\n" for one in found).encode()
    done = subprocess.run([str(VALIDATORS), "-c", reader], input=lines, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.decode().split("\n")[:-1]]


def read_toml(found):
    import tomllib
    return [tomllib.loads(f"value = {one}")["value"] for one in found]


def has_tomllib():
    try:
        import tomllib  # noqa: F401
    except ImportError:
        return False
    return True


READERS = {
    "lua": (lambda: shutil.which("lua5.3"), read_lua),
    "tcl": (lambda: shutil.which("tclsh8.6"), read_tcl),
    "yaml": (VALIDATORS.exists, read_yaml),
    "toml": (has_tomllib, read_toml),
    "python": (lambda: True, lambda found: [ast.literal_eval(one) for one in found]),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--texts", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    values = list(texts(options.texts, options.seed))
    for language, (is_here, read) in READERS.items():
        if not is_here():
            print(f"{language}: not here")
            continue
        found = literals(options.program, language, values)
        for value, literal, back in zip(values, found, read(found), strict=True):
            if back != value:
                raise SystemExit(f"{language}: {value!r} is {literal}, which reads as {back!r}")
        print(f"{language}: {len(values)} texts")


if __name__ == "__main__":
    main()
