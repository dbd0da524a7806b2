"""Small SIF files as seeds of fuzz_sif_reader: python3 sif_seeds.py FOLDER SQUASHFS

Written from Apptainer's sif package, not with kiln's encoder. Each is what the target expects: the header, and then what
stands from byte 4096 on, without the gap between them. A signed one is signed by a key that is made for it.
"""
import hashlib
import json
import os
import struct
import subprocess
import sys
import tempfile

DEFINITION, ENVIRONMENT, LABELS, PARTITION, SIGNATURE, JSON, GENERIC, CRYPTO, SBOM, ROOT_INDEX, BLOB = range(0x4001, 0x400C)
GROUP = 0xF0000000
TABLE = 4096
TIME = 1700000000


def partition(system, kind, arch=b"02"):
    return struct.pack("<ii", system, kind) + arch


def descriptor(kind, number, group, link, offset, size, stored, name=b"", extra=b""):
    return struct.pack("<iBIIIQQQqqqq128s384s", kind, 1, number, group, link, offset, size, stored, TIME, TIME, 0, 0, name, extra)


def header(arch, total, used, data, length):
    launch = b"#!/usr/bin/env run-singularity\n"
    return struct.pack("<32s10s3s3s16sqqQQQQQQ", launch, b"SIF_MAGIC\0", b"01", arch, bytes(16), TIME, TIME,
                       total - used, total, TABLE, total * 585, data, length)


def sif(objects, arch=b"02", spare=0):
    """objects: (type, content, group, link, name, extra). The file as it lies on disk."""
    total = len(objects) + spare
    start = end = TABLE + 585 * total
    table = body = b""
    for number, (kind, content, group, link, name, extra) in enumerate(objects, 1):
        padding = -end % 512 if kind == PARTITION else 0
        table += descriptor(kind, number, group, link, end + padding, len(content), padding + len(content), name, extra)
        body += bytes(padding) + content
        end += padding + len(content)
    top = header(arch, total, len(objects), start, end - start)
    return top + bytes(TABLE - len(top)) + table + bytes(585 * spare) + body


def signed_text(whole, count):
    """The line that Apptainer signs, for objects 1 to count of group 1."""
    digest = lambda data: "sha256:" + hashlib.sha256(data).hexdigest()
    rows = []
    for i in range(count):
        raw = whole[TABLE + 585 * i:TABLE + 585 * (i + 1)]
        offset, size = struct.unpack_from("<QQ", raw, 17)
        covered = raw[:5] + struct.pack("<I", i) + raw[13:17] + raw[25:33] + raw[41:49] + raw[57:]
        rows.append({"relativeId": i, "descriptorDigest": digest(covered), "objectDigest": digest(whole[offset:offset + size])})
    text = {"version": 1, "header": {"digest": digest(whole[:45] + whole[48:64])}, "objects": rows}
    return json.dumps(text, separators=(",", ":")) + "\n"


def clear_sign(text):
    with tempfile.TemporaryDirectory() as home:
        gpg = ["gpg", "--batch", "--quiet", "--homedir", home, "--passphrase", "", "--pinentry-mode", "loopback"]
        subprocess.run([*gpg, "--quick-gen-key", "Seed <seed@example.org>", "ed25519", "sign"], check=True, stderr=subprocess.DEVNULL)
        signed = subprocess.run([*gpg, "--digest-algo", "SHA256", "--no-comments", "--no-emit-version", "--clear-sign"],
                                input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=True)
        return signed


def main(folder, squashfs):
    image = open(squashfs, "rb").read()
    one = GROUP | 1
    definition = (DEFINITION, b"bootstrap: oci\nfrom: hello:1\n", one, 0, b"", b"")
    inspect = (JSON, b'{"data":{"attributes":{}}}', one, 0, b"inspect-metadata.json", b"")
    system = (PARTITION, image, one, 0, b"", partition(1, 2))
    made = {
        "plain": sif([definition, inspect, system]),
        "spare": sif([definition, system], spare=2),
        "all-types": sif([(kind, b"x" * 9, one, 0, b"a name", b"") for kind in
                          (DEFINITION, ENVIRONMENT, LABELS, JSON, GENERIC, CRYPTO, SBOM, ROOT_INDEX, BLOB)] + [system]),
        "groups": sif([definition, system, (PARTITION, b"e" * 600, GROUP | 2, 0, b"overlay", partition(2, 4)),
                       (LABELS, b"{}", GROUP | 2, 1, b"", b""), (GENERIC, b"", GROUP, GROUP | 2, b"", b"")]),
        "no-system": sif([definition, (PARTITION, b"d" * 9, one, 0, b"", partition(4, 3))], arch=b"00"),
        "arm64": sif([(PARTITION, image, one, 0, b"", partition(1, 2, b"04"))], arch=b"04"),
    }
    extra = struct.pack("<i", 1) + bytes(20)
    for name, objects in (("signed", [definition, inspect, system]), ("signed-small", [definition])):
        arch = b"02" if system in objects else b"00"
        text = signed_text(sif(objects, arch), len(objects))
        made[name] = sif(objects + [(SIGNATURE, clear_sign(text), GROUP, one, b"", extra)], arch)
    for name, whole in made.items():
        with open(os.path.join(folder, name), "wb") as out:
            out.write(whole[:128] + whole[TABLE:])


main(*sys.argv[1:])
