"""Language models as `kiln bench` runs them: their known logits, the weights as llama.cpp is given them, the figures, and what is refused."""
import json
import os
import subprocess
import sys
import unittest

import recipe_files
import generate
import language_model
import language_reference
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = """import sys, generate, language_model
sys.argv[0] = 'generate.py'
generate.STEPS['reference'] = 'language_reference'
language_model.MEASURED, language_model.PROMPT, language_model.ANSWER = language_model.TINY, 16, 8
generate.harness.run(generate.main)"""


def run(**environment):
    path = os.pathsep.join([os.path.join(HERE, "..", "..", "recipes", "shared", part) for part in ("workload", "networks")] + [HERE])
    settings = dict(os.environ, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1", KILN_FRAMEWORK_NAME="reference", KILN_BENCH_STEPS="2")
    settings.update(environment)
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    return done.returncode, done.stdout, done.stderr


class Models(unittest.TestCase):
    def known(self, model, counts):
        longest = language_reference.logits(model, language_model.tokens(model, max(counts)))
        for count in counts:
            np.testing.assert_allclose(longest[count - 1][:16], model.known[count], atol=6e-5)

    def test_the_tiny_one_has_its_known_logits(self):
        self.known(language_model.TINY, (16, 24))

    def test_the_measured_one_has_its_known_logits(self):
        """After two tokens: the logits after a prompt take minutes with a plain BLAS, and llama.cpp, which has to agree, finds them in each image."""
        self.known(language_model.MEASURED, (2,))
        self.assertEqual({2, language_model.PROMPT, language_model.PROMPT + language_model.ANSWER}, set(language_model.MEASURED.known))

    def test_parameters(self):
        self.assertEqual(106972160, language_model.parameters(language_model.MEASURED))

    def test_another_text_is_far_away(self):
        model = language_model.TINY
        text = language_model.tokens(model, 16)
        self.assertLess(language_model.distance(model, 16, language_reference.logits(model, text)[-1]), 1e-3)
        self.assertGreater(language_model.distance(model, 16, language_reference.logits(model, text[::-1])[-1]), 0.5)

    def test_no_position_and_no_mask_are_told_apart(self):
        model = language_model.TINY
        for broken in (lambda x, positions: x, lambda x, positions: language_reference_rotated(x, positions[::-1])):
            language_reference_rotated, language_reference.rotated = language_reference.rotated, broken
            try:
                found = language_reference.logits(model, language_model.tokens(model, 16))[-1]
            finally:
                language_reference.rotated = language_reference_rotated
            self.assertGreater(language_model.distance(model, 16, found), 0.05)


class FourBits(unittest.TestCase):
    def test_blocks_as_ggml_reads_them(self):
        """dequantize_row_q4_0 of ggml-quants.c: a scale in half precision, then 16 bytes; low halves are numbers 0 to 15, high ones 16 to 31."""
        numbers = np.random.RandomState(3).randint(-7, 8, (2, 64)).astype(np.int8)
        data = language_model.q4_0(numbers, np.float16(0.25)).tobytes()
        self.assertEqual(2 * 2 * 18, len(data))
        for block in range(4):
            part = data[18 * block:18 * block + 18]
            self.assertEqual(0.25, np.frombuffer(part[:2], np.float16)[0])
            read = [(byte & 15) - 8 for byte in part[2:]] + [(byte >> 4) - 8 for byte in part[2:]]
            self.assertEqual(numbers.reshape(4, 32)[block].tolist(), read)

    def test_weights_are_small_whole_numbers_of_all_sizes(self):
        for _, numbers, scale in language_model.weights(language_model.TINY):
            self.assertEqual(list(range(-7, 8)), sorted(set(numbers.flatten().tolist())))
            self.assertEqual(np.float16, type(scale))


class Measurement(unittest.TestCase):
    def test_tokens_in_a_second(self):
        status, output, errors = run()
        self.assertEqual((0, ""), (status, errors))
        said = json.loads(output)
        self.assertEqual(("reference 1.0", "NumPy", 1443072, False), (said["framework"], said["variant"], said["parameters"], said["compiled"]))
        self.assertEqual({"prefill": ("tokens/s", 2), "decode": ("tokens/s", 7)},
                         dict((name, (metric["unit"], len(metric["samples"]))) for name, metric in said["metrics"].items()))
        self.assertNotIn("samples", said)
        self.assertTrue(said["result"]["ok"])
        self.assertLess(said["result"]["value"], 1e-3)

    def refused(self, word, **environment):
        status, output, errors = run(**environment)
        self.assertEqual((1, ""), (status, output))
        self.assertRegex(errors, "^generate.py: " + word)
        self.assertEqual(1, errors.count("\n"))

    def test_what_is_wrong_has_no_speed(self):
        self.refused("after 16 tokens the logits are .* another computation", KILN_TEST_FAULT="other text")
        self.refused("after 16 tokens the logits are .* another computation", KILN_TEST_FAULT="remembers")
        self.refused("the network has 1443071 parameters, not 1443072", KILN_TEST_FAULT="parameters")

    def test_what_it_cannot_do(self):
        self.refused("no language model with the framework 'jax'; there are: llama-cpp-python, pytorch, reference, vllm", KILN_FRAMEWORK_NAME="jax")
        self.refused("this workload has synthetic input only: leave KILN_BENCH_DATA unset", KILN_BENCH_DATA="/")
        self.refused("this workload reads one text", KILN_BENCH_BATCH="8")
        self.refused("this workload reads one text", KILN_BENCH_WORKERS="1")

    def test_an_image_without_the_library(self):
        self.refused("the image has no (torch|transformers|safetensors), which this workload needs", KILN_FRAMEWORK_NAME="pytorch")

    def test_the_recipe_names_every_module(self):
        files = set(name.split("/")[-1].split(":")[-1] for name in recipe_files.recipe("language-model")["files"])
        steps = set(name + ".py" for name in generate.STEPS.values())
        self.assertLessEqual(steps | {"generate.py", "harness.py", "language_model.py", "llama_file.py"}, files)


if __name__ == "__main__":
    unittest.main()
