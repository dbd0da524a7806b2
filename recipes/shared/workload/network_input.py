"""What a network is fed: numbers drawn once, or examples out of files. Works under Python 2.7 and 3."""
import gzip
import os
import struct

import numpy as np

from harness import Wrong, now


def synthetic(network, batch):
    """One batch, the same at every step and in every framework. (batches, what the record says of them)"""
    random = np.random.RandomState(1)
    examples = random.standard_normal((batch,) + tuple(network.INPUT)).astype(np.float32)
    labels = random.randint(0, network.CLASSES, batch).astype(np.int32)
    said = {"kind": "synthetic", "format": "float32 %s in memory" % _order(network), "bytes": int(examples.nbytes), "bytes_per_second": None}
    return [(examples, labels)], said


def from_files(network, batch, folder, count):
    """The first `count` batches of a folder, from the start again where it has fewer; read and converted before the first step."""
    reader = {"mnist": _mnist, "arrays": _arrays}.get(getattr(network, "DATA", None))
    if reader is None:
        raise Wrong("this workload has synthetic input only: leave KILN_BENCH_DATA unset")
    if not os.path.isdir(folder):
        raise Wrong("KILN_BENCH_DATA is %s, which is no folder" % folder)
    start = now()
    examples, labels, size, form = reader(folder)
    seconds = now() - start
    if examples.shape[1:] != tuple(network.INPUT):
        raise Wrong("the examples of %s have the shape %s, not %s" % (folder, list(examples.shape[1:]), list(network.INPUT)))
    if len(examples) != len(labels):
        raise Wrong("%s has %d examples and %d labels" % (folder, len(examples), len(labels)))
    if len(examples) < batch:
        raise Wrong("%s has %d examples, fewer than one batch of %d" % (folder, len(examples), batch))
    if labels.min() < 0 or labels.max() >= network.CLASSES:
        raise Wrong("%s has the labels %d to %d, not 0 to %d" % (folder, labels.min(), labels.max(), network.CLASSES - 1))
    batches = []
    for number in range(min(count, len(examples) // batch)):
        part = slice(number * batch, (number + 1) * batch)
        batches.append((examples[part].astype(np.float32) / 255, labels[part].astype(np.int32)))
    rate = round(size / seconds, 1) if seconds > 0 else None
    return batches, {"kind": "path", "format": "%s, float32 %s in memory" % (form, _order(network)), "bytes": size, "bytes_per_second": rate}


def _order(network):
    return {1: "NC", 2: "NTC", 3: "NHWC"}[len(network.INPUT)]


def _idx(folder, name, dimensions):
    """An IDX file of bytes: two zeroes, 8 for unsigned bytes, the number of dimensions, their sizes (4 bytes each, big-endian)."""
    path = os.path.join(folder, name)
    unpack = open
    if not os.path.exists(path) and os.path.exists(path + ".gz"):
        path, unpack = path + ".gz", gzip.open
    try:
        with unpack(path, "rb") as file:
            data = file.read()
    except (IOError, OSError, EOFError) as error:
        raise Wrong("cannot read %s: %s" % (path, error))
    header = 4 + 4 * dimensions
    if len(data) < header or data[:4] != struct.pack(">BBBB", 0, 0, 8, dimensions):
        raise Wrong("%s is no IDX file of bytes in %d dimensions" % (path, dimensions))
    shape = struct.unpack_from(">%dI" % dimensions, data, 4)
    wanted = 1
    for length in shape:
        wanted *= length
    if len(data) - header != wanted:
        raise Wrong("%s has %d bytes of values, and its header says %d" % (path, len(data) - header, wanted))
    return np.frombuffer(data, np.uint8, offset=header).reshape(shape), os.path.getsize(path)


def _mnist(folder):
    images, image_bytes = _idx(folder, "train-images-idx3-ubyte", 3)
    labels, label_bytes = _idx(folder, "train-labels-idx1-ubyte", 1)
    return images[..., np.newaxis], labels, image_bytes + label_bytes, "MNIST's IDX files"


def _arrays(folder):
    """images.npy, bytes with channels last, and labels.npy, whole numbers."""
    size, found = 0, []
    for name, kinds in (("images.npy", "u"), ("labels.npy", "iu")):
        path = os.path.join(folder, name)
        try:
            found.append(np.load(path, allow_pickle=False))
        except (IOError, OSError, ValueError, EOFError) as error:
            raise Wrong("cannot read %s: %s" % (path, error))
        if found[-1].dtype.kind not in kinds:
            raise Wrong("%s holds %s" % (path, found[-1].dtype))
        size += os.path.getsize(path)
    return found[0], found[1], size, "NumPy's files"
