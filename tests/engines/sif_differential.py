"""Layers made at random and damaged at random, merged by kiln and by umoci: what kiln accepts must be equal.

usage: sif_differential.py FOLDER CASES [SEED]       environment: KILN, the program

kiln may refuse what umoci takes for the reasons in STRICTER; umoci may refuse only what kiln refuses too, but for
the reasons in LENIENT.
"""
import hashlib, io, json, os, random, re, shutil, stat, subprocess, sys, tarfile

STRICTER = ("'..' in its path", "whiteout without a name", "lies below a whiteout", "not a folder", "is a hard link",
            "symbolic links", "without a target", "truncated", "names the root", "digest", "DiffID", " id ",
            "unknown type", "sparse", "global PAX header", "nested deeper", "a path is longer")
LENIENT = ("unknown typeflag '\\x67'",)  # a global PAX header that says nothing, which other engines pass over
RUNTIME = {".singularity.d", ".run", ".exec", ".shell", ".test", "singularity", "environment", "dev", "proc", "root",
           "var", "tmp", "etc", "sys", "home"}
MUTATED = 0.2  # of the layers
MUTATIONS = ["byte", "header", "type", "number", "name", "link", "twice", "dropped", "cut", "zeros", "swapped",
             "before"]
NAMES = ["a", "b", "c", "d", "e"]


def path(rng, files=()):
    """Mostly one that does not go through a file."""
    for _ in range(20):
        name = "/".join(rng.choice(NAMES) for _ in range(rng.choice([1, 1, 2, 2, 3])))
        if not any(name.startswith(file + "/") for file in files) or rng.random() < 0.02:
            break
    return name


def layer(rng, files):
    """`files` holds, over all layers, the paths that were files when they were written."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=rng.choice([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])) as tar:
        for _ in range(rng.randint(1, 9)):
            name, kind, data = path(rng, files), rng.choice("ffffdddlhwwop"), b""
            folder, _, last = name.rpartition("/")
            if kind == "d":
                files.discard(name)
            target = rng.choice(sorted(files)) if files and rng.random() < 0.95 else path(rng)
            if kind == "h" and target == name:
                continue
            if kind in "fhp":
                files.add(name)
            if kind == "w":
                files.difference_update([file for file in files if (file + "/").startswith(name + "/")])
                name = f"{folder}/.wh.{last}" if folder else f".wh.{last}"
            elif kind == "o":
                name += "/.wh..wh..opq"
            elif rng.random() < 0.1:
                name = rng.choice(["./", "/", ".//"]) + name
            entry = tarfile.TarInfo(name)
            entry.mtime, entry.mode = rng.randint(0, 10**9), rng.choice([0o644, 0o755, 0o4755])
            if kind == "f":
                data = rng.randbytes(rng.choice([0, 1, 600])) or b""
                entry.size = len(data)
            elif kind == "d":
                entry.type, entry.mode = tarfile.DIRTYPE, rng.choice([0o755, 0o711])
            elif kind == "l":
                entry.type = tarfile.SYMTYPE
                entry.linkname = rng.choice([path(rng), "/" + path(rng), "../" + path(rng), "../../../" + path(rng), "."])
            elif kind == "h":
                entry.type, entry.linkname = tarfile.LNKTYPE, target
            elif kind == "p":
                entry.type = tarfile.FIFOTYPE
            tar.addfile(entry, io.BytesIO(data))
    raw = bytearray(out.getvalue().rstrip(b"\0") + b"\0" * 2048)
    raw = raw[: len(raw) // 512 * 512]
    if rng.random() < MUTATED:
        mutate(raw, rng)
    return bytes(raw)


def fix_checksum(raw, at):
    raw[at + 148 : at + 156] = b" " * 8
    raw[at + 148 : at + 156] = b"%06o\0 " % sum(raw[at : at + 512])


def special(kind, text):
    """A header that says something of the member behind it."""
    entry = tarfile.TarInfo("special")
    entry.type, entry.size = kind, len(text)
    return entry.tobuf(tarfile.GNU_FORMAT) + text + b"\0" * (-len(text) % 512)


def record(key, value):
    length = len(key) + len(value) + 3
    length += len(str(length + len(str(length))))
    return b"%d %s=%s\n" % (length, key, value)


def headers_before(rng):
    """One to three of them, in any order: which of them counts is where programs differ."""
    made = b""
    for _ in range(rng.randint(1, 3)):
        name = rng.choice([b"a", b"b/c", b"d", b"n\0m", b"", b"./e/", b"a" * 120])
        kind = rng.choice(b"LKxxxg")
        if kind in b"LK":
            made += special(bytes([kind]), name + rng.choice([b"", b"\0", b"\0rest"]))
            continue
        keys = [b"path", b"linkpath", b"mtime", b"uid", b"comment", b"SCHILY.xattr.user.a", b"k\0ey", b"size"]
        records = [(key, rng.choice([b"5", b"1.5", b"-3", b"x"]) if key in (b"mtime", b"uid", b"size") else name)
                   for key in rng.sample(keys, rng.randint(1, 3))]
        made += special(bytes([kind]), b"".join(record(*one) for one in records))
    return made


def mutate(raw, rng):
    """One change, in half of the cases with a right checksum again, so that readers look behind it."""
    headers = [at for at in range(0, len(raw) - 511, 512) if raw[at + 257 : at + 262] == b"ustar"]
    at = rng.choice(headers)
    kind = rng.choice(MUTATIONS)
    if kind == "byte":
        raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    elif kind == "header":
        raw[at + rng.randrange(500)] = rng.randrange(256)
        fix_checksum(raw, at)
    elif kind == "type":
        raw[at + 156] = rng.choice(b"\00001256789LKxgNSVX")  # no device: kiln leaves it out, umoci makes a file of it
        fix_checksum(raw, at)
    elif kind == "number":  # of a size, mode, owner or time: octal too large, negative, base 256, blanks
        field, width = rng.choice([(100, 8), (108, 8), (116, 8), (124, 12), (136, 12)])
        value = rng.choice([b"7" * (width - 1), b"-1", b"\x80" + b"\0" * (width - 2) + b"\x05", b"\xff" * width, b" " * width, b"8x"])
        raw[at + field : at + field + width] = value.ljust(width, b"\0")[:width]
        fix_checksum(raw, at)
    elif kind == "name":
        name = rng.choice([b"", b"/", b".", b"..", b"a/../b", b"a//b/.", b".wh.", b".wh..wh..opq", b"a/.wh..", b".wh..wh.plnk", b"a\nb", b"\xff\xfe", b"n" * 100])
        raw[at : at + 100] = name.ljust(100, b"\0")
        fix_checksum(raw, at)
    elif kind == "link":
        raw[at + 157 : at + 257] = rng.choice([b"", b"/", b"../../../../etc", b"a", b"/a/../..", b".", b"l" * 100]).ljust(100, b"\0")
        fix_checksum(raw, at)
    elif kind == "twice":
        raw[at:at] = raw[at : at + 512]
    elif kind == "dropped":
        del raw[at : at + 512]
    elif kind == "cut":
        del raw[rng.randrange(headers[-1] + 512) :]
    elif kind == "zeros":
        raw[at:at] = b"\0" * 512 * rng.choice([1, 2])
    elif kind == "before":
        raw[at:at] = headers_before(rng)
    elif kind == "swapped":
        other = rng.choice(headers)
        raw[at : at + 512], raw[other : other + 512] = raw[other : other + 512], raw[at : at + 512]


def write_image(folder, layers):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(f"{folder}/blobs/sha256")

    def blob(data, kind):
        digest = hashlib.sha256(data).hexdigest()
        with open(f"{folder}/blobs/sha256/{digest}", "wb") as file:
            file.write(data)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": "sha256:" + digest, "size": len(data)}

    tars = [blob(data, "layer.v1.tar") for data in layers]
    config = {"architecture": "amd64", "os": "linux", "config": {},
              "rootfs": {"type": "layers", "diff_ids": [tar["digest"] for tar in tars]}}
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": blob(json.dumps(config).encode(), "config.v1+json"), "layers": tars}
    top = blob(json.dumps(manifest).encode(), "manifest.v1+json")
    top["annotations"] = {"org.opencontainers.image.ref.name": "latest"}
    for name, value in (("index.json", {"schemaVersion": 2, "manifests": [top]}), ("oci-layout", {"imageLayoutVersion": "1.0.0"})):
        with open(f"{folder}/{name}", "w") as file:
            json.dump(value, file)


def tree(root, skip):
    """path → kind, mode, content or target, and the first name of its hard link group."""
    found, groups = {}, {}
    for folder, folders, files in os.walk(root):
        if folder == root:
            folders[:] = [name for name in folders if name not in skip]
            files = [name for name in files if name not in skip]
        for name in sorted(folders + files):
            full = os.path.join(folder, name)
            status, relative = os.lstat(full), os.path.relpath(full, root)
            kind, content = stat.S_IFMT(status.st_mode), None
            if stat.S_ISLNK(status.st_mode):
                content = os.readlink(full)
            elif stat.S_ISREG(status.st_mode):
                with open(full, "rb") as file:
                    content = hashlib.sha256(file.read()).hexdigest()
            mode = 0 if stat.S_ISLNK(status.st_mode) else stat.S_IMODE(status.st_mode)
            if not stat.S_ISDIR(status.st_mode):
                groups.setdefault(status.st_ino, []).append(relative)
            found[relative] = (kind, mode, content, status.st_ino)
    return {name: (kind, mode, content, min(groups[ino]) if ino in groups else None)
            for name, (kind, mode, content, ino) in found.items()}


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, errors="replace")


def kiln_tree(image, work):
    made = run(os.environ["KILN"], "sif", f"oci:{image}", "-o", f"{work}/x.sif")
    if made.returncode != 0:
        return None, made.stderr
    listing = run(os.environ["KILN"], "sif", "list", f"{work}/x.sif").stdout
    start = re.search(r"^4 .*", listing, re.M).group(0).split()[3]
    shutil.rmtree(f"{work}/k", ignore_errors=True)
    unpacked = run("unsquashfs", "-no-xattrs", "-o", start, "-d", f"{work}/k", "-no-progress", f"{work}/x.sif")
    if unpacked.returncode != 0:
        return None, "unsquashfs: " + unpacked.stderr
    return tree(f"{work}/k", RUNTIME), ""


def umoci_tree(image, work):
    shutil.rmtree(f"{work}/u", ignore_errors=True)
    made = run("umoci", "unpack", "--rootless", "--image", f"{image}:latest", f"{work}/u")
    if made.returncode != 0:
        return None, made.stderr
    return tree(f"{work}/u/rootfs", RUNTIME), ""


def main():
    work, cases = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    os.makedirs(work, exist_ok=True)
    counts = {"equal": 0, "refused by both": 0, "stricter": 0, "lenient": 0}
    for case in range(seed, seed + cases):
        rng = random.Random(case)
        image = f"{work}/image"
        files = set()
        write_image(image, [layer(rng, files) for _ in range(rng.randint(1, 4))])
        ours, our_reason = kiln_tree(image, work)
        theirs, their_reason = umoci_tree(image, work)
        if ours is None and theirs is None:
            counts["refused by both"] += 1
        elif ours is None:
            if not any(reason in our_reason for reason in STRICTER):
                sys.exit(f"seed {case}: only kiln refuses: {our_reason}")
            counts["stricter"] += 1
        elif theirs is None:
            counts["lenient"] += 1
            if not any(reason in their_reason for reason in LENIENT):
                sys.exit(f"seed {case}: only umoci refuses: {their_reason}")
        elif ours != theirs:
            names = [name for name in sorted(ours.keys() | theirs.keys()) if ours.get(name) != theirs.get(name)]
            sys.exit(f"seed {case}: " + "; ".join(f"{name}: kiln {ours.get(name)}, umoci {theirs.get(name)}" for name in names))
        else:
            counts["equal"] += 1
    print(json.dumps({"figure": "layers as umoci merges them", "n": cases, "bad": 0, "seed": seed, **counts}))


main()
