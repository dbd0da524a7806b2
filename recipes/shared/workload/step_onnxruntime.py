"""Inference by ONNX Runtime, of the network as an ONNX model: on CPUs, on NVIDIA's GPUs, or by OpenVINO where the image has it."""
import json
import os

import numpy as np
import onnxruntime as ort

import onnx_network
from harness import Wrong

CHANNELS_FIRST = True
VERSION = ort.__version__


def device():
    """A GPU needs the driver, and the provider in the wheel."""
    return "gpu" if os.path.exists("/dev/nvidiactl") and "CUDAExecutionProvider" in ort.get_available_providers() else "cpu"


class Inference:
    rank = 0

    def __init__(self, network, plan, batch, settings):
        known = {"": "CPUExecutionProvider", "openvino": "OpenVINOExecutionProvider"}
        self.compiler = " ".join(settings.compilers)
        if self.compiler not in known or settings.ranks > 1:
            raise Wrong(f"no inference with ONNX Runtime by {self.compiler or 'itself'} on {settings.ranks} ranks")
        self.provider = known[self.compiler]
        if device() == "gpu" and not self.compiler:
            self.provider = "CUDAExecutionProvider"
            if hasattr(ort, "preload_dlls"):
                ort.preload_dlls()
        self.variant = self.provider
        self.threads = settings.threads
        self.model, self.parameters = onnx_network.model(plan, network.INPUT, batch, network.CLASSES)
        self.session = self.started(False)
        self.last = None

    def started(self, profiled):
        options = ort.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.enable_profiling = profiled
        options.profile_file_prefix = "/tmp/kiln-onnxruntime"
        providers = [self.provider] + ["CPUExecutionProvider"] * (self.provider != "CPUExecutionProvider")
        return ort.InferenceSession(self.model, options, providers=providers)

    def put(self, examples, labels):
        if examples.ndim == 4:
            examples = examples.transpose(0, 3, 1, 2)
        return np.ascontiguousarray(examples), labels

    def step(self, examples, labels):
        del labels
        self.last = examples
        return self.session.run(None, {"examples": examples})[0]

    def compiled(self):
        """Once more, in a session that notes which provider runs each node: the one that was asked for ran some."""
        session = self.started(True)
        session.run(None, {"examples": self.last})
        path = session.end_profiling()
        with open(path) as profile:
            ran = {event["args"]["provider"] for event in json.load(profile) if event.get("args", {}).get("provider")}
        os.remove(path)
        if self.provider not in ran:
            raise Wrong(f"{self.provider} ran nothing; {' and '.join(sorted(ran)) or 'nothing'} did")
        return self.compiler or False
