"""Inference as `kiln bench` runs it, of networks in NumPy, and the ONNX models that ONNX Runtime is given."""
import importlib
import json
import os
import struct
import subprocess
import sys
import unittest

import recipe_files
import layers
import network_input
import numpy as np
import onnx_network
import step_reference
from harness import Wrong

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = "import sys, infer; sys.argv[0] = 'infer.py'; infer.train.STEPS['reference'] = 'step_reference'; infer.harness.run(infer.main)"


def run(network, **environment):
    path = os.pathsep.join([os.path.join(HERE, "..", "..", "recipes", "shared", part) for part in ("workload", "networks")] + [HERE])
    settings = dict(os.environ, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1", KILN_FRAMEWORK_NAME="reference", KILN_BENCH_STEPS="2")
    settings.update(environment)
    done = subprocess.run([sys.executable, "-c", PROGRAM, network], env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    return done.returncode, done.stdout, done.stderr


class Inference(unittest.TestCase):
    def test_scores_that_are_known(self):
        status, output, errors = run("tiny_network")
        self.assertEqual((0, ""), (status, errors))
        said = json.loads(output)
        self.assertEqual(("ms/batch", 2, 63, 16), (said["unit"], len(said["samples"]), said["parameters"], said["batch"]))
        self.assertTrue(said["result"]["ok"])

    def test_what_is_wrong_has_no_speed(self):
        for fault, word in (("wrong", "the mean size of the scores is .* another computation"), ("too few", r"the scores have the shape \(15, 3\)")):
            status, output, errors = run("tiny_network", KILN_TEST_FAULT=fault)
            self.assertEqual((1, ""), (status, output))
            self.assertRegex(errors, "^infer.py: " + word)

    def test_only_synthetic_input(self):
        status, _, errors = run("tiny_network", KILN_BENCH_DATA="/")
        self.assertEqual((1, "infer.py: this workload has synthetic input only: leave KILN_BENCH_DATA unset\n"), (status, errors))

    def test_the_scores_of_mnist_cnn(self):
        network = importlib.import_module("mnist_cnn")
        plan = layers.plan(network.LAYERS, network.INPUT)
        step_reference.doubled(plan)
        (examples, _), = network_input.synthetic(network, 128)[0]
        self.assertAlmostEqual(network.SCORES[128], np.abs(step_reference.forward(plan, examples)).mean(), places=6)
        self.assertEqual({8, 96}, set(importlib.import_module("resnet50").SCORES))


def fields(data):
    """The fields of a Protocol Buffers message: (number, value), values numbers, bytes or four raw bytes."""
    def varint(at):
        value = shift = 0
        while True:
            byte = data[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value, at

    found, at = [], 0
    while at < len(data):
        tag, at = varint(at)
        value, at = varint(at) if tag & 7 != 5 else (data[at : at + 4], at + 4)
        if tag & 7 == 2:
            value, at = data[at : at + value], at + value
        found.append((tag >> 3, value))
    return found


def one(message, number):
    return dict(fields(message))[number]


class OnnxModels(unittest.TestCase):
    def read(self, made, shape):
        plan = layers.plan(made, shape, channels_first=True)
        data, parameters = onnx_network.model(plan, shape, 2, 4)
        graph = fields(one(data, 7))
        nodes = [fields(value) for number, value in graph if number == 1]
        tensors = {dict(fields(value))[8]: fields(value) for number, value in graph if number == 5}
        return plan, nodes, tensors, parameters

    def test_a_convolution(self):
        plan, nodes, tensors, parameters = self.read([layers.convolution(3, 3, 2, 1), layers.flatten(), layers.dense(4)], (4, 6, 2))
        self.assertEqual([b"Conv", b"Flatten", b"Gemm"], [dict(node)[4] for node in nodes])
        self.assertEqual(sum(array.size for array in layers.every_weight(plan)), parameters)
        inputs = [value for number, value in nodes[0] if number == 1]
        kernel = tensors[inputs[1]]
        self.assertEqual([3, 2, 3, 3], [value for number, value in kernel if number == 1])
        first = struct.unpack("<f", dict(kernel)[9][:4])[0]
        self.assertAlmostEqual(float(plan[0].weights[0][0, 0, 0, 0]), first, places=6)
        attributes = {dict(fields(value))[1]: [each for number, each in fields(value) if number == 8] for number, value in nodes[0] if number == 5}
        self.assertEqual({b"kernel_shape": [3, 3], b"strides": [2, 2], b"pads": [1, 1, 1, 1]}, attributes)

    def test_branches_meet_in_a_sum(self):
        made = [layers.residual([layers.convolution(2, 1, bias=False), layers.batch_norm()]), layers.relu(), layers.mean(), layers.dense(4)]
        _, nodes, tensors, parameters = self.read(made, (3, 3, 2))
        self.assertEqual([b"Conv", b"BatchNormalization", b"Add", b"Relu", b"GlobalAveragePool", b"Flatten", b"Gemm"], [dict(node)[4] for node in nodes])
        self.assertEqual([b"batchnormalization1", b"examples"], [value for number, value in nodes[2] if number == 1])
        self.assertEqual((4 + 4 + 12, 7), (parameters, len(tensors)))  # the running values are no parameters

    def test_what_has_no_operator_here(self):
        with self.assertRaisesRegex(Wrong, "no attention of ONNX"):
            self.read([layers.attention(2), layers.mean(), layers.dense(4)], (3, 4))


class Recipes(unittest.TestCase):
    def test_have_the_files_that_their_modules_import(self):
        """Every module of ours that a file of the recipe names is in the recipe, too."""
        shared = os.path.join(recipe_files.RECIPES, "shared")
        ours = {name[:-3] for _, _, names in os.walk(shared) for name in names if name.endswith(".py")}
        for workload in sorted(os.listdir(os.path.join(recipe_files.RECIPES, "workload"))):
            method = recipe_files.recipe(workload)
            names = {os.path.basename(name.replace("shared:", "")) for name in method["files"]}
            for name in method["files"]:
                if not name.endswith(".py"):
                    continue
                with open(os.path.join(shared, name[7:])) as file:
                    words = [line.split() for line in file]
                imported = {line[1].rstrip(",") for line in words if len(line) > 1 and line[0] in ("import", "from")}
                self.assertEqual(set(), {module for module in imported & ours if module + ".py" not in names}, workload + "/" + name)


if __name__ == "__main__":
    unittest.main()
