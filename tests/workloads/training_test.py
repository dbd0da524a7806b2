"""Training as `kiln bench` runs it, of the networks in NumPy (step_reference.py): their known losses, real input, and what is refused."""
import ctypes
import gzip
import importlib
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import recipe_files  # noqa: F401 (finds the modules)
import layers
import network_input
import numpy as np
import step_reference
import train
from harness import Wrong

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = "import sys, train; sys.argv[0] = 'train.py'; train.STEPS['reference'] = 'step_reference'; train.harness.run(train.main)"


def run(network, **environment):
    """(exit status, output, error output) of train.py, with the framework `reference`."""
    path = os.pathsep.join([os.path.join(HERE, "..", "..", "recipes", "shared", part) for part in ("workload", "networks")] + [HERE])
    settings = dict(os.environ, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1", KILN_FRAMEWORK_NAME="reference", KILN_BENCH_STEPS="1")
    settings.update(environment)
    done = subprocess.run([sys.executable, "-c", PROGRAM, network], env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    return done.returncode, done.stdout, done.stderr


class Networks(unittest.TestCase):
    def test_mnist_cnn_trains_as_it_is_known_to(self):
        status, output, errors = run("mnist_cnn", KILN_BENCH_STEPS="1")
        self.assertEqual((0, ""), (status, errors))
        said = json.loads(output.splitlines()[-1])
        self.assertEqual(("ms/step", 1, 1199882, 128, "reference 1.0", False, 1),
                         (said["unit"], len(said["samples"]), said["parameters"], said["batch"], said["framework"], said["compiled"], said["ranks"]))
        self.assertEqual({"kind": "synthetic", "format": "float32 NHWC in memory", "bytes": 128 * 28 * 28 * 4, "bytes_per_second": None}, said["input"])
        self.assertTrue(said["result"]["ok"])
        self.assertGreater(said["first"], 0)
        # The second is what PyTorch, TensorFlow, MXNet, CNTK and JAX find, in single precision.
        for known, found in zip((importlib.import_module("mnist_cnn").LOSSES[128][0], 2.289408), said["losses"]):
            self.assertAlmostEqual(known, found, places=5)


    def test_the_first_loss_of_transformer_block_is_known(self):
        network = importlib.import_module("transformer_block")
        plan = layers.plan(network.LAYERS, network.INPUT)
        step_reference.doubled(plan)
        (examples, labels), = network_input.synthetic(network, 16)[0]
        loss = step_reference.cross_entropy(step_reference.forward(plan, examples), labels)
        self.assertAlmostEqual(network.LOSSES[16][0], loss, places=5)

    def test_all_have_their_parameters(self):
        for name in ("mnist_cnn", "mlp", "transformer_block", "resnet50"):
            network = importlib.import_module(name)
            plan = layers.plan(network.LAYERS, network.INPUT)
            self.assertEqual(network.PARAMETERS, sum(array.size for array in layers.every_weight(plan)), name)
            self.assertEqual((network.CLASSES,), plan[-1].gives, name)

    def test_all_have_a_known_loss_for_each_of_their_batches(self):
        for name in ("mnist_cnn", "mlp", "transformer_block", "resnet50"):
            network = importlib.import_module(name)
            self.assertEqual(set(network.BATCH.values()), set(network.LOSSES), name)


class Batches(unittest.TestCase):
    def test_another_batch_is_trained_without_a_known_loss(self):
        status, output, errors = run("tiny_network", KILN_BENCH_BATCH="3")
        self.assertEqual((0, ""), (status, errors))
        self.assertEqual(3, json.loads(output.splitlines()[-1])["batch"])

    def test_a_batch_that_is_no_number(self):
        status, output, errors = run("tiny_network", KILN_BENCH_BATCH="many")
        self.assertEqual((1, "", "train.py: KILN_BENCH_BATCH is 'many'; it must be a whole number from 0\n"), (status, output, errors))


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "this machine has one processor")
class Workers(unittest.TestCase):
    """step_reference.loader() starts a process for each batch, as a data loader does."""

    def test_batches_come_from_workers(self):
        status, output, errors = run("tiny_network", KILN_BENCH_WORKERS="1")
        self.assertEqual((0, ""), (status, errors))
        self.assertEqual(1, json.loads(output.splitlines()[-1])["workers"])

    def test_openmp_that_binds_its_threads_pins_the_workers_too(self):
        try:
            ctypes.CDLL("libgomp.so.1")
        except OSError:
            self.skipTest("there is no libgomp.so.1")
        openmp = {"KILN_TEST_OPENMP": "libgomp.so.1"}
        status, _, errors = run("tiny_network", KILN_BENCH_WORKERS="1", **openmp)
        self.assertEqual((0, ""), (status, errors), "nothing is bound unless a variable says so")
        # OMP_PLACES alone binds as well: OMP_PROC_BIND is then true.
        for bound in ({"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"}, {"OMP_PLACES": "cores"}):
            bound.update(openmp)
            status, output, errors = run("tiny_network", KILN_BENCH_WORKERS="1", **bound)
            self.assertEqual((1, ""), (status, output))
            self.assertRegex(errors, "^train.py: the workers of the data loader may use [0-9]+ of [0-9]+ processors: OpenMP's binding")
        status, _, errors = run("tiny_network", **bound)
        self.assertEqual((0, ""), (status, errors), "without workers there is nothing to pin")


class WrongResults(unittest.TestCase):
    def refused(self, word, **environment):
        status, output, errors = run("tiny_network", **environment)
        self.assertEqual((1, ""), (status, output))
        self.assertRegex(errors, "^train.py: .*" + word)
        self.assertEqual(1, errors.count("\n"))

    def test_a_loss_that_rises(self):
        self.refused("this is not training", KILN_TEST_FAULT="rises")

    def test_a_loss_that_is_no_number(self):
        self.refused("the loss of step 2 is nan", KILN_TEST_FAULT="nan", KILN_BENCH_STEPS="2")

    def test_another_number_of_parameters(self):
        self.refused("the network has 64 parameters, not 63", KILN_TEST_FAULT="parameters")

    def test_another_network(self):
        self.refused("the first loss is .* another computation", KILN_TEST_FAULT="other network")

    def test_another_optimiser(self):
        self.refused("falls by in 5 steps is .* another computation", KILN_TEST_FAULT="too fast", KILN_BENCH_STEPS="5")

    def test_no_steps(self):
        self.refused("KILN_BENCH_STEPS is '0'", KILN_BENCH_STEPS="0")

    def test_a_framework_without_a_step(self):
        self.refused("no training step for the framework 'scikit-learn'; there are: cntk, jax", KILN_FRAMEWORK_NAME="scikit-learn")
        self.refused("no keras training step for the framework 'jax'", KILN_FRAMEWORK_NAME="jax", KILN_BENCH_VARIANT="keras")

    def test_a_folder_where_input_is_synthetic(self):
        self.refused("synthetic input only: leave KILN_BENCH_DATA unset", KILN_BENCH_DATA="/")


def idx(shape, data):
    return struct.pack(">BBBB%dI" % len(shape), 0, 0, 8, len(shape), *shape) + data


class Mnist(unittest.TestCase):
    """Real input: files in MNIST's format, of digits that differ in one bright row."""

    IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        labels = np.arange(300) % 10
        images = np.zeros((300, 28, 28), np.uint8)
        images[np.arange(300), labels * 2 + 4] = 255
        self.images, self.labels = images.tobytes(), labels.astype(np.uint8).tobytes()
        self.write(self.IMAGES, idx((300, 28, 28), self.images))
        self.write(self.LABELS, idx((300,), self.labels))
        self.network = importlib.import_module("mnist_cnn")

    def write(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)

    def read(self, batch=128, count=10):
        return network_input.from_files(self.network, batch, self.folder, count)

    def refused(self, word):
        with self.assertRaisesRegex(Wrong, word):
            self.read()

    def test_batches_are_the_files_in_order(self):
        batches, said = self.read()
        self.assertEqual(2, len(batches))  # 300 examples
        examples, labels = batches[1]
        self.assertEqual(((128, 28, 28, 1), np.float32), (examples.shape, examples.dtype))
        self.assertEqual([8, 9, 0], labels[:3].tolist())
        self.assertEqual((1.0, 28.0), (examples[0].max(), examples[0].sum()))
        self.assertEqual(("path", "MNIST's IDX files, float32 NHWC in memory", 300 * 785 + 24), (said["kind"], said["format"], said["bytes"]))
        self.assertGreater(said["bytes_per_second"], 0)
        self.assertEqual(1, len(self.read(count=1)[0]))

    def test_a_training_on_them(self):
        status, output, errors = run("tiny_digits", KILN_BENCH_DATA=self.folder)
        self.assertEqual((0, ""), (status, errors))
        self.assertEqual("path", json.loads(output)["input"]["kind"])

    def test_packed_files(self):
        for name in (self.IMAGES, self.LABELS):
            path = os.path.join(self.folder, name)
            with open(path, "rb") as file, gzip.open(path + ".gz", "wb") as packed:
                packed.write(file.read())
            os.remove(path)
        self.assertEqual(2, len(self.read()[0]))
        with open(os.path.join(self.folder, self.IMAGES + ".gz"), "r+b") as file:
            file.truncate(100)
        self.refused("cannot read .*ubyte.gz")

    def test_files_that_are_not_there(self):
        with self.assertRaisesRegex(Wrong, "KILN_BENCH_DATA is /nowhere, which is no folder"):
            network_input.from_files(self.network, 128, "/nowhere", 1)
        os.remove(os.path.join(self.folder, self.LABELS))
        self.refused("cannot read .*train-labels-idx1-ubyte")

    def test_files_of_another_format(self):
        for data in (b"", b"\0\0\x08", b"\x89PNG" * 100, idx((300,), self.images), struct.pack(">BBBBI", 0, 0, 13, 3, 300)):
            self.write(self.IMAGES, data)
            self.refused("is no IDX file of bytes in 3 dimensions")

    def test_files_that_end_early_or_late(self):
        for data in (self.images[:-1], self.images + b"x"):
            self.write(self.IMAGES, idx((300, 28, 28), data))
            self.refused("bytes of values, and its header says 235200")

    def test_counts_that_differ(self):
        self.write(self.LABELS, idx((299,), self.labels[:-1]))
        self.refused("300 examples and 299 labels")

    def test_fewer_examples_than_a_batch(self):
        self.write(self.IMAGES, idx((5, 28, 28), self.images[: 5 * 784]))
        self.write(self.LABELS, idx((5,), self.labels[:5]))
        self.refused("5 examples, fewer than one batch of 128")

    def test_labels_that_are_no_digits(self):
        self.write(self.LABELS, idx((300,), b"\x0a" + self.labels[1:]))
        self.refused("the labels 0 to 10, not 0 to 9")

    def test_images_of_another_size(self):
        self.write(self.IMAGES, idx((300, 14, 56), self.images))
        self.refused(r"the shape \[14, 56, 1\], not \[28, 28, 1\]")


class Arrays(unittest.TestCase):
    """Real input as NumPy's files."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.network = importlib.import_module("resnet50")
        self.save(np.full((5, 224, 224, 3), 51, np.uint8), np.array([0, 999, 5, 6, 7]))

    def save(self, images, labels):
        np.save(os.path.join(self.folder, "images.npy"), images)
        np.save(os.path.join(self.folder, "labels.npy"), labels)

    def read(self):
        return network_input.from_files(self.network, 2, self.folder, 10)

    def test_batches_are_the_files_in_order(self):
        batches, said = self.read()
        self.assertEqual([[0, 999], [5, 6]], [labels.tolist() for _, labels in batches])
        self.assertAlmostEqual(0.2, float(batches[0][0].max()), places=6)
        self.assertEqual(("path", "NumPy's files, float32 NHWC in memory"), (said["kind"], said["format"]))

    def test_other_numbers_and_other_files_are_refused(self):
        labels = np.zeros(5, np.int64)
        for images, labels, word in ((np.zeros((5, 224, 224, 3), np.float32), labels, "images.npy holds float32"),
                                     (np.zeros((5, 224, 224, 3), np.uint8), labels + 0.5, "labels.npy holds float64"),
                                     (np.zeros((5, 224, 224, 3), np.uint8), labels - 1, "the labels -1 to -1, not 0 to 999"),
                                     (np.zeros((5, 3, 224, 224), np.uint8), labels, r"the shape \[3, 224, 224\]")):
            self.save(images, labels)
            with self.assertRaisesRegex(Wrong, word):
                self.read()
        for data in (b"", b"no array"):
            with open(os.path.join(self.folder, "images.npy"), "wb") as file:
                file.write(data)
            with self.assertRaisesRegex(Wrong, "cannot read .*images.npy"):
                self.read()

    def test_pickled_objects_are_not_loaded(self):
        np.save(os.path.join(self.folder, "images.npy"), np.array([{}], dtype=object), allow_pickle=True)
        with self.assertRaisesRegex(Wrong, "cannot read .*images.npy"):
            self.read()


class Plan(unittest.TestCase):
    def test_shapes(self):
        plan = layers.plan([layers.convolution(8, 7, 2, 3), layers.max_pool(3, 2, 1), layers.mean(), layers.dense(5)], (224, 224, 3))
        self.assertEqual([(112, 112, 8), (56, 56, 8), (8,), (5,)], [layer.gives for layer in plan])
        self.assertEqual([(7, 7, 3, 8), (8,), (8, 5), (5,)], [array.shape for array in layers.every_weight(plan)])

    def test_channels_first_is_the_same_network(self):
        def made():
            return [layers.convolution(3, 2), layers.flatten(), layers.dense(4)]

        image = np.random.RandomState(5).standard_normal((1, 4, 5, 2))
        last, first = layers.plan(made(), (4, 5, 2)), layers.plan(made(), (4, 5, 2), channels_first=True)
        convolved = step_reference.forward(last[:1], image)
        flat = convolved.transpose(0, 3, 1, 2).reshape(1, -1)
        np.testing.assert_allclose(flat @ first[2].weights[0], convolved.reshape(1, -1) @ last[2].weights[0], rtol=1e-6)
        self.assertFalse(np.allclose(first[2].weights[0], last[2].weights[0]))

    def test_branches_must_fit(self):
        with self.assertRaisesRegex(ValueError, "branches"):
            layers.plan([layers.residual([layers.dense(3)])], (4,))

    def test_weights_are_the_same_everywhere(self):
        first = layers.every_weight(layers.plan([layers.dense(2)], (3,)))
        np.testing.assert_array_equal(first[0], layers.every_weight(layers.plan([layers.dense(2)], (3,)))[0])
        self.assertAlmostEqual(0.056365, float(first[0][0, 0]), places=6)


if __name__ == "__main__":
    unittest.main()
