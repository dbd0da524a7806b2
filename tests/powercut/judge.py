#!/usr/bin/env python3
"""judge.py KILN STATE "DIGEST …": what is wrong with a state folder after a power cut, in a line; exit code 1 when something is.

The digests are of manifests that the index held before: it holds as many images now, and of each that it holds every blob is there and is
what its digest says. The same of what the records call built."""
import glob
import hashlib
import json
import os
import subprocess
import sys

kiln, state, acknowledged = sys.argv[1], sys.argv[2], sys.argv[3].split()
wrong = []


def blob(digest):
    """Its bytes; None where it is missing or something else."""
    digits = digest.split(":")[1]
    try:
        with open(f"{state}/store/sha256/{digits[:2]}/{digits}", "rb") as file:
            read = file.read()
    except OSError:
        return None
    return read if hashlib.sha256(read).hexdigest() == digits else None


def check(manifest, what):
    read = blob(manifest)
    if read is None:
        wrong.append(f"{what}: manifest {manifest[:19]} is not whole")
        return
    document = json.loads(read)
    for part in [document["config"], *document["layers"]]:
        if blob(part["digest"]) is None:
            wrong.append(f"{what}: blob {part['digest'][:19]} of {manifest[:19]} is not whole")


def check_index():
    listed = subprocess.run([kiln, "--state", state, "index", "list", "--format", "json"], capture_output=True, text=True, check=False)
    if listed.returncode and acknowledged:
        wrong.append(f"index list: exit code {listed.returncode}: {listed.stderr.strip()[-100:]}")
    images = json.loads(listed.stdout) if listed.returncode == 0 else []
    for image in images:
        check(image["manifest"], "listed")
    if len(images) < len(acknowledged):
        wrong.append(f"{len(images)} images are listed of {len(acknowledged)}")


def check_files():
    for file in glob.glob(f"{state}/built/*.json"):
        try:
            with open(file, encoding="utf-8") as opened:
                record = json.load(opened)
        except ValueError as error:
            wrong.append(f"record {os.path.basename(file)[:16]}: {error}")
            continue
        if record.get("manifest"):
            check(record["manifest"], "built")
    for file in glob.glob(f"{state}/images/*/*/index.json"):
        try:
            with open(file, encoding="utf-8") as opened:
                json.load(opened)
        except ValueError as error:
            wrong.append(f"layout {file}: {error}")


check_index()
check_files()
if wrong:
    print("; ".join(wrong[:4]))
sys.exit(bool(wrong))
