"""ONNX Runtime gave the model to OpenVINO: by its own profile, OpenVINO ran all of it, and the answer is right."""
import json
import os
import pathlib
import sys

import numpy as np
import onnxruntime as ort

import onnx_model

PROVIDER = "OpenVINOExecutionProvider"
if PROVIDER not in ort.get_available_providers():
    sys.exit(f"no {PROVIDER}; there are {ort.get_available_providers()}")
rng = np.random.default_rng(0)
weights, biases, x = (rng.standard_normal(shape).astype(np.float32) for shape in ((4, 3), (3,), (5, 4)))
options = ort.SessionOptions()
options.enable_profiling = True
options.profile_file_prefix = "/tmp/kiln-openvino"
session = ort.InferenceSession(onnx_model.model(weights.tolist(), biases.tolist()), options, providers=[(PROVIDER, {"device_type": "CPU"})])
found = session.run(None, {"x": x})[0]
np.testing.assert_allclose(found, np.maximum(x @ weights + biases, 0), rtol=2e-2, atol=2e-2)  # bfloat16, on processors that have it
events = json.loads(pathlib.Path(session.end_profiling()).read_text())
ran = {event["args"]["provider"] for event in events if event.get("args", {}).get("provider")}
if ran != {PROVIDER}:
    sys.exit(f"nodes ran on {ran or 'nothing'}")
# libopenvino.so.2541 is that of 2025.4.1.
year, release, patch = os.environ["KILN_VERSION"].split(".")
library = f"libopenvino.so.{year[2:]}{release}{patch}"
if library not in pathlib.Path("/proc/self/maps").read_text():
    sys.exit(f"the process does not map {library}")
print(f"openvino {os.environ['KILN_VERSION']} in onnxruntime {ort.__version__}: ran the whole model on the CPU, equal to NumPy")
