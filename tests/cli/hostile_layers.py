"""Layers under 1 MB that unfold to as much work as they can: kiln takes under 600 MB and little time for each.

usage: hostile_layers.py FOLDER      environment: KILN, the program
Each is made into a SIF, which is the way that does most with a layer. Whether it is refused does not matter here.
"""
import gzip, hashlib, json, os, shutil, subprocess, sys, zlib

MOST_MEMORY = 600 << 20
MOST_SECONDS = 60  # of processor time: 10 of an optimised program are six times as much of one that is not
MOST = 66 << 20  # plain bytes that gzip makes less than 1 MB
SOME = 16 << 20
LESS = {"attributes": 8 << 20, "access rights": 3 << 20, "records": 4 << 20}  # which gzip makes less small


def header(name, kind=b"0", size=0, link=b"", prefix=b""):
    block = bytearray(512)
    block[: len(name[:100])] = name[:100]
    block[100:136] = b"0000644\0" + b"0000000\0" * 2 + b"%011o\0" % size
    block[136:148] = b"00000001750\0"
    block[148:157] = b" " * 8 + kind
    block[157 : 157 + len(link[:100])] = link[:100]
    block[257:265] = b"ustar\00000"
    block[345 : 345 + len(prefix)] = prefix
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def padded(text):
    return text + b"\0" * (-len(text) % 512)


def long_header(kind, text):
    return header(b"long", kind, len(text)) + padded(text)


def record(key, value):
    size = len(key) + len(value) + 3
    length = size + len(str(size))
    length = size + len(str(length))
    return b"%d %s=%s\n" % (length, key, value)


def pax(*records):
    text = b"".join(record(key, value) for key, value in records)
    return header(b"pax", b"x", len(text)) + padded(text)


DEEP = b"a/" * 1000
ENTRIES = {  # shape → entry number i
    "files": lambda i: header(b"%d" % i),
    "folders": lambda i: header(b"%d/" % i, b"5"),
    "nested in a header": lambda i: header(b"a/" * 49 + b"f", prefix=b"%d/" % i + b"a/" * 70),
    "nested": lambda i: long_header(b"L", b"%d/" % i + DEEP + b"f") + header(b"f"),
    "long names": lambda i: long_header(b"L", b"/".join(b"%08d" % i + b"x" * 240 for _ in range(15))) + header(b"f"),
    "targets of links": lambda i: long_header(b"K", b"%d/" % i + DEEP + b"f") + header(b"%d" % i, b"1", link=b"t"),
    "whiteouts": lambda i: header(b".wh.%d" % i),
    "opaque folders": lambda i: header(b"%d/.wh..wh..opq" % i),
    "nested whiteouts": lambda i: long_header(b"L", b"%d/" % i + DEEP + b".wh.f") + header(b"f"),
    "one link, walked again": lambda i: header(b"s/%d" % i) if i else long_header(b"K", DEEP) + header(b"s", b"2"),
    "links and what they lead to": lambda i: long_header(b"K", DEEP) + header(b"%d/s" % i, b"2") + header(b"%d/s/f" % i),
    "links in a row": lambda i: header(b"l%d" % i, b"2", link=b"./" * 40 + b"l%d" % (i + 1)) if i < 250 else header(b"l0/%d" % i),
    "long links": lambda i: long_header(b"K", b"%d" % i + b"t" * 4000) + header(b"%d" % i, b"2"),
    "attributes": lambda i: pax(*((b"SCHILY.xattr.user.%d" % j, b"%d" % i) for j in range(128))) + header(b"%d" % i),
    "access rights": lambda i: pax((b"SCHILY.acl.access", RIGHTS)) + header(b"%d" % i),
    "records": lambda i: RECORDS + header(b"%d" % i),
}
RIGHTS = b",".join(b"u:%d:r" % i for i in range(90000))
RECORDS = pax(*((b"k%d" % i, b"") for i in range(90000)))


def entries(make, limit):
    size, i = 0, 0
    while True:
        entry = make(i)
        size, i = size + len(entry), i + 1
        if size > limit:
            return
        yield entry


def regions(size):  # GNU sparse 1.0: numbers in the content
    text = b"%d\n" % (size // 4) + b"0\n0\n" * (size // 4)
    yield pax((b"GNU.sparse.major", b"1"), (b"GNU.sparse.minor", b"0")) + header(b"s", size=len(text))
    yield padded(text)


def layers():
    """Pairs of a shape's name and what gzip_of gives."""
    for name, make in ENTRIES.items():
        yield name, gzip_of(entries(make, LESS.get(name, SOME)))
    yield "folders, as many as fit", gzip_of(entries(ENTRIES["folders"], MOST))
    yield "sparse map", gzip_of(regions(SOME))
    members, diff_id = gzip_of(entries(ENTRIES["files"], 1 << 20))
    yield "members", (gzip.compress(b"") * 45_000 + members, diff_id)


def gzip_of(*parts):
    """The compressed layer and the digest of what is in it."""
    digest, packer, out = hashlib.sha256(), zlib.compressobj(6, wbits=31), []
    for part in (*parts, [b"\0" * 1024]):
        for piece in part:
            digest.update(piece)
            out.append(packer.compress(piece))
    return b"".join(out) + packer.flush(), digest.hexdigest()


def write_image(folder, layer, diff_id):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(f"{folder}/blobs/sha256")

    def blob(data, kind):
        digest = hashlib.sha256(data).hexdigest()
        with open(f"{folder}/blobs/sha256/{digest}", "wb") as file:
            file.write(data)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": "sha256:" + digest, "size": len(data)}

    config = {"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": ["sha256:" + diff_id]}}
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": blob(json.dumps(config).encode(), "config.v1+json"), "layers": [blob(layer, "layer.v1.tar+gzip")]}
    for name, value in (("index.json", {"schemaVersion": 2, "manifests": [blob(json.dumps(manifest).encode(), "manifest.v1+json")]}),
                        ("oci-layout", {"imageLayoutVersion": "1.0.0"})):
        with open(f"{folder}/{name}", "w") as file:
            json.dump(value, file)


def measure(words):
    """Exit status, bytes of memory and seconds of processor time of a command, and what it said."""
    said = open("said", "w+")
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=said)
    _, status, used = os.wait4(child.pid, 0)
    said.seek(0)
    return os.waitstatus_to_exitcode(status), used.ru_maxrss << 10, used.ru_utime + used.ru_stime, said.read()


def main():
    os.chdir(sys.argv[1])
    for name, (layer, diff_id) in layers():
        if len(layer) > 1 << 20:
            sys.exit(f"{name}: the layer has {len(layer)} bytes, which proves nothing")
        write_image("image", layer, diff_id)
        status, memory, seconds, said = measure([os.environ["KILN"], "sif", "--arch", "amd64", "oci:image", "-o", "x.sif"])
        print(f"{name}: {len(layer)} bytes of layer, {memory >> 20} MB, {seconds:.1f} s, exit status {status}")
        if status not in (0, 3) or memory > MOST_MEMORY or seconds > MOST_SECONDS:
            sys.exit(f"{name}: {said[-400:]}")


main()
