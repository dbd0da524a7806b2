"""TensorRT is the version asked for and ONNX Runtime finds it; where there is a GPU, TensorRT runs the whole model.

TensorRT builds engines on the GPU that they are for and nowhere else: without one, only what the image has can be proved, and the last
line says so.
"""
import ctypes
import json
import os
import pathlib
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


PROVIDER = "TensorrtExecutionProvider"
wanted = os.environ["KILN_VERSION"]
number = ctypes.CDLL("libnvinfer.so.10").getInferLibVersion()
found = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
if found != wanted:
    sys.exit(f"libnvinfer is {found}, not {wanted}")
ctypes.CDLL("libnvonnxparser.so.10")
if PROVIDER not in ort.get_available_providers():
    sys.exit(f"no {PROVIDER}; there are {ort.get_available_providers()}")
if not has_gpu():
    print(f"tensorrt {found} and ONNX Runtime's provider are here; no engine was built, not run: there is no GPU here")
    sys.exit()

ort.preload_dlls()
rng = np.random.default_rng(0)
weights, biases, x = (rng.standard_normal(shape).astype(np.float32) for shape in ((4, 3), (3,), (5, 4)))
options = ort.SessionOptions()
options.enable_profiling = True
options.profile_file_prefix = "/tmp/kiln-tensorrt"
session = ort.InferenceSession(onnx_model.model(weights.tolist(), biases.tolist()), options, providers=[PROVIDER])
np.testing.assert_allclose(session.run(None, {"x": x})[0], np.maximum(x @ weights + biases, 0), rtol=1e-2, atol=1e-2)
events = json.loads(pathlib.Path(session.end_profiling()).read_text())
ran = {event["args"]["provider"] for event in events if event.get("args", {}).get("provider")}
if ran != {PROVIDER}:
    sys.exit(f"nodes ran on {ran or 'nothing'}")
print(f"tensorrt {found}: an engine built here ran the whole model, equal to NumPy")
