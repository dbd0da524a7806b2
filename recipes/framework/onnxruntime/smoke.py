"""ONNX Runtime is the version asked for and a model's output is right, computed by the provider that the target calls for.

Where the test runs there may be no GPU: then the provider's library must have code for the target and load as far as it can without
a driver, and the last line says that it did not run.
"""
import ctypes
import json
import os
import pathlib
import struct
import sys

import numpy as np
import onnxruntime as ort

import onnx_model


def has_gpu():
    """The kernel's device and the driver's library, which is the machine's and never in an image."""
    try:
        return pathlib.Path("/dev/nvidiactl").exists() and bool(ctypes.CDLL("libcuda.so.1"))
    except OSError:
        return False


def gpu_code(path):
    """The GPUs that a library has code for: {"sm_80", "compute_90"}. Its fat binaries are found by their magic numbers."""
    data = path.read_bytes()
    found = set()
    at = data.find(b"\x50\xed\x55\xba\x01\x00")
    while at >= 0:
        header, size = struct.unpack_from("<HQ", data, at + 6)
        entry, end = at + header, min(at + header + size, len(data) - 64)
        while entry < end:
            kind, _, length, payload = struct.unpack_from("<HHIQ", data, entry)
            if kind not in (1, 2) or length < 32:
                break
            found.add(f"{'compute' if kind == 1 else 'sm'}_{struct.unpack_from('<I', data, entry + 28)[0]}")
            entry += length + payload
        at = data.find(b"\x50\xed\x55\xba\x01\x00", at + 16)
    return found


def covers(built, target):
    number = int(target[3:].rstrip("af"))
    for word in built:
        kind, _, text = word.partition("_")
        have = int(text)
        if have <= number and (kind == "compute" or have // 10 == number // 10):
            return True
    return False


def nodes_by_provider(session):
    """Which provider ran each node, by the session's own profile."""
    events = json.loads(pathlib.Path(session.end_profiling()).read_text())
    return {event["name"]: event["args"]["provider"] for event in events if event.get("args", {}).get("provider")}


def release(version):
    """1.21 and 1.21.0 are one release: Debian's package says the first."""
    numbers = [int(number) for number in version.split(".")]
    return numbers + [0] * (4 - len(numbers))


wanted = os.environ["KILN_VERSION"]
if release(ort.__version__) != release(wanted):
    sys.exit(f"onnxruntime is {ort.__version__}, not {wanted}")
if os.environ["KILN_METHOD"] == "pip" and not ort.__file__.startswith("/opt/kiln/onnxruntime/"):
    sys.exit(f"onnxruntime was loaded from {ort.__file__}")

targets = os.environ.get("KILN_GPU_TARGETS", "").split()
providers, proof = ["CPUExecutionProvider"], ""
if targets:
    if "CUDAExecutionProvider" not in ort.get_available_providers():
        sys.exit(f"no CUDA provider; there are {ort.get_available_providers()}")
    built = gpu_code(pathlib.Path(ort.__file__).parent / "capi/libonnxruntime_providers_cuda.so")
    missing = [target for target in targets if not covers(built, target)]
    if missing:
        sys.exit(f"no code for {missing}; the CUDA provider has {sorted(built)}")
    proof = f", CUDA with code for {' '.join(targets)}"
    if has_gpu():
        if hasattr(ort, "preload_dlls"):
            ort.preload_dlls()
        providers.insert(0, "CUDAExecutionProvider")
    else:
        proof += ", not run: there is no GPU here"

rng = np.random.default_rng(0)
weights, biases, x = (rng.standard_normal(shape).astype(np.float32) for shape in ((4, 3), (3,), (5, 4)))
options = ort.SessionOptions()
options.enable_profiling = True
options.profile_file_prefix = "/tmp/kiln-onnxruntime"
session = ort.InferenceSession(onnx_model.model(weights.tolist(), biases.tolist()), options, providers=providers)
found = session.run(None, {"x": x})[0]
np.testing.assert_allclose(found, np.maximum(x @ weights + biases, 0), rtol=1e-3, atol=1e-4)
ran = nodes_by_provider(session)
if providers[0] not in ran.values():
    sys.exit(f"{providers[0]} ran nothing: {ran}")
print(f"onnxruntime {ort.__version__}, {len(ran)} nodes on {', '.join(sorted(set(ran.values())))}{proof}")
