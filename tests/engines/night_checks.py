"""What holds of a state folder whatever was done to a night: for night_verdicts.py, thirty_nights.py and night_kills.py.

All of it looks from outside, in the folder where it runs; the state folder is .kiln.
"""
import hashlib
import json
import os
import pathlib
import signal
import sys
import time
import xml.etree.ElementTree

STATE = pathlib.Path(".kiln")
about = [""]  # what is being done, for fail()
neighbours = set()  # processes that may stay


def fail(text):
    print(f"FAILED, {about[0]}: {text}", file=sys.stderr)
    sys.exit(1)


def equal(found, wanted, what):
    if found != wanted:
        fail(f"{what}: expected {wanted}, found {found}")


def write(path, text, mode=0o644):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def _read(path):
    try:
        return pathlib.Path(path).read_bytes()
    except OSError:
        return b""


def _link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def at_work():
    """Processes of this folder, but for us, who started us, and who is told to stay (`neighbours`)."""
    here, found = f"{os.getcwd()}/", {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        command = _read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode(errors="replace")
        places = (f"{command}/", f"{_link(f'/proc/{pid}/root')}/", f"{_link(f'/proc/{pid}/cwd')}/")
        if pid not in (os.getpid(), os.getppid(), *neighbours) and any(here in place for place in places):
            found[pid] = command
    return found


neighbours.update(at_work())  # the shell and the registry that were there before


def descendants(pid):
    parents, below, left = {}, [], [pid]
    for child in filter(str.isdigit, os.listdir("/proc")):
        words = _read(f"/proc/{child}/stat").rpartition(b")")[2].split()
        if words:
            parents.setdefault(int(words[1]), []).append(int(child))
    while left:
        below += left
        left = [child for parent in left for child in parents.get(parent, ())]
    return below


def kill(pids, number=signal.SIGKILL):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def wait_until_gone(seconds=60):
    end = time.monotonic() + seconds
    while left := at_work():
        if time.monotonic() > end:
            fail(f"at work after {seconds} s: {left}")
        time.sleep(0.02)


def numbers(matrix):
    """Of the nights that have a report."""
    folder = STATE / "nights" / matrix
    names = os.listdir(folder) if folder.exists() else []
    return sorted(int(name) for name in names if name.isdigit() and (folder / name / "night.json").exists())


def check_reports(matrix):
    """Each file of a report that is there is whole."""
    folder = STATE / "nights" / matrix
    for name in os.listdir(folder) if folder.exists() else []:
        if not name.isdigit():
            continue
        if (folder / name / "night.json").exists():
            report = json.loads((folder / name / "night.json").read_bytes())
            equal(report["number"], int(name), "the number of a report")
            equal(sorted(set(os.listdir(folder / name)) & {"junit.xml", "report.html"}), ["junit.xml", "report.html"],
                  f"files of report {name}")
        if (folder / name / "junit.xml").exists():
            xml.etree.ElementTree.parse(folder / name / "junit.xml")
        if (folder / name / "report.html").exists() and not _read(folder / name / "report.html").rstrip().endswith(b"</html>"):
            fail(f"the page of night {name} is cut")


def is_made_aside(name):
    return name.startswith(".") or name.endswith((".tmp", ".part", ".lock")) or name in ("latest.new",)


def files():
    for folder, folders, names in os.walk(STATE):
        place = pathlib.Path(folder)
        if place == STATE:
            folders[:] = [name for name in folders if name not in ("tmp", "engine", "engine.sessions")]
        folders[:] = [name for name in folders if not name.startswith(".") and (place / name) != STATE / "store" / "tmp"]
        for name in names:
            yield place / name


def check_names():
    """Nothing half written has a name that somebody believes: documents can be read, blobs are what they are called."""
    for file in files():
        if is_made_aside(file.name) or file.is_symlink() or file.parent == STATE / "evidence":  # these have a digest of their own
            continue
        if file.suffix == ".json":
            try:
                json.loads(file.read_bytes())
            except (ValueError, OSError) as problem:
                fail(f"{file}: {problem}")
        elif "sha256" in file.parts and len(file.name) == 64:
            equal(hashlib.sha256(file.read_bytes()).hexdigest(), file.name, f"the digest of {file}")


def leavings():
    """Whatever only a process at work needs, when none is."""
    empty = [STATE / "running", STATE / "engine.sessions", STATE / "store" / "tmp"]
    found = [str(folder / name) for folder in empty if folder.is_dir() for name in os.listdir(folder)]
    found += [str(STATE / "tmp" / name) for name in os.listdir(STATE / "tmp") if name != ".lock"] if (STATE / "tmp").exists() else []
    found += [str(file) for file in files() if (file.name.startswith(".") and not file.name.startswith(".ninja_")) or file.name.endswith((".tmp", ".part"))]
    found += [str(path) for path in STATE.glob("images/*/.*")] + [str(path) for path in STATE.glob("sif.snapshots/.*")]
    found += [str(path) for path in STATE.glob("nights/*/latest.new")]
    found += [f"a mount at {line.split()[1]}" for line in _read("/proc/mounts").decode().splitlines() if f" {os.getcwd()}/.kiln/" in line]
    return found


def blob(digest):
    algorithm, _, name = digest.partition(":")
    return next(iter(STATE.glob(f"store/{algorithm}/*/{name}")), None)


def check_images(rows):
    """The files of each row are there; check_names() has their bytes."""
    for row in rows:
        manifest = blob(row["manifest"])
        if manifest is None:
            fail(f"{row}: its manifest is not in the store")
        document = json.loads(manifest.read_bytes())
        for part in (document["config"], *document["layers"]):
            if blob(part["digest"]) is None:
                fail(f"{row}: {part['digest']} of it is not in the store")
