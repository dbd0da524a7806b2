"""The harness of the workloads: what counts as a measurement, and what is refused."""
import io
import json
import unittest

import recipe_files  # noqa: F401 (finds the modules)
import harness
from harness import Wrong


class TickingClock(object):
    """A clock that reads the given seconds, one after the other."""

    def __init__(self, *seconds):
        self.seconds = list(seconds)

    def __call__(self):
        return self.seconds.pop(0)


class Settings(unittest.TestCase):
    def test_come_from_the_environment(self):
        settings = harness.Settings(
            {"KILN_FRAMEWORK_NAME": "jax", "KILN_COMPILERS": "xla tvm", "KILN_BENCH_STEPS": "7", "KILN_BENCH_RANKS": "2", "KILN_BENCH_DATA": "/d",
             "OMP_NUM_THREADS": "3"}, 30)
        self.assertEqual(("jax", ["xla", "tvm"], 7, 2, "/d", 3),
                         (settings.framework, settings.compilers, settings.steps, settings.ranks, settings.data, settings.threads))

    def test_have_defaults(self):
        settings = harness.Settings({}, 30)
        self.assertEqual(("", [], 30, 1, ""), (settings.framework, settings.compilers, settings.steps, settings.ranks, settings.data))
        self.assertEqual(harness.processors(), settings.threads)

    def test_threads_are_shared_by_ranks_and_never_none(self):
        self.assertEqual(1, harness.Settings({"KILN_BENCH_RANKS": "100000"}, 1).threads)

    def test_no_steps_or_nonsense_is_refused(self):
        for name in ("KILN_BENCH_STEPS", "KILN_BENCH_RANKS", "OMP_NUM_THREADS"):
            for text in ("0", "-1", "many", "1.5", " 3"):
                with self.assertRaisesRegex(Wrong, name):
                    harness.Settings({name: text}, 30)


class Timed(unittest.TestCase):
    def test_the_first_step_is_apart(self):
        clock = TickingClock(0.0, 2.0, 3.0, 3.5, 4.0, 4.25)
        first, samples, results = harness.timed(lambda number: number * 10, 2, clock)
        self.assertEqual((2000.0, [500.0, 250.0], [0, 10, 20]), (first, samples, results))

    def test_a_falling_clock_is_an_error(self):
        with self.assertRaisesRegex(Wrong, "clock went from 3.0 to 2.5 while step 1"):
            harness.timed(lambda number: 0, 2, TickingClock(0.0, 2.0, 3.0, 2.5))

    def test_a_clock_that_stands_is_an_error(self):
        with self.assertRaisesRegex(Wrong, "clock"):
            harness.timed(lambda number: 0, 2, TickingClock(1.0, 1.0))

    def test_a_clock_that_reads_nonsense_is_an_error(self):
        with self.assertRaisesRegex(Wrong, "clock"):
            harness.timed(lambda number: 0, 2, TickingClock(1.0, float("nan")))

    def test_the_real_clock_rises(self):
        readings = [harness.now() for _ in range(1000)]
        self.assertEqual(sorted(readings), readings)


class Losses(unittest.TestCase):
    def test_that_fall_are_a_training(self):
        self.assertEqual({"what": "loss falls", "ok": True, "value": 1.0, "expected": 4.0}, harness.check_losses([4.0, 3.0, 2.0, 1.0]))

    def test_one_bad_batch_at_the_end_is_no_harm(self):
        harness.check_losses([4.0, 3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 4.1])

    def test_that_rise_or_stay_are_none(self):
        for losses in ([1.0, 2.0, 3.0], [2.0, 2.0, 2.0], [2.0]):
            with self.assertRaisesRegex(Wrong, "this is not training"):
                harness.check_losses(losses)

    def test_that_are_no_numbers_are_none(self):
        for bad in (float("nan"), float("inf"), -float("inf")):
            with self.assertRaisesRegex(Wrong, "the loss of step 1 is"):
                harness.check_losses([3.0, bad, 1.0, 1.0])

    def test_known_values(self):
        harness.check_close("it", 1.01, 1.0, 0.02)
        for bad in (1.03, 0.97, float("nan")):
            with self.assertRaisesRegex(Wrong, "it is .* another computation"):
                harness.check_close("it", bad, 1.0, 0.02)

    def test_parameters(self):
        harness.check_parameters(5, 5)
        with self.assertRaisesRegex(Wrong, "6 parameters, not 5"):
            harness.check_parameters(6, 5)


class Report(unittest.TestCase):
    def test_is_one_line(self):
        output = io.StringIO()
        harness.report({"unit": "ms/step", "samples": [1.5], "input": {"bytes_per_second": None}}, output)
        self.assertEqual(1, output.getvalue().count("\n"))
        self.assertEqual({"unit": "ms/step", "samples": [1.5], "input": {"bytes_per_second": None}}, json.loads(output.getvalue()))

    def test_what_is_no_measurement_is_not_printed(self):
        for wrong in ({}, {"samples": []}, {"samples": [1.0, 0.0]}, {"samples": [-1.0]}, {"samples": [float("nan")]},
                      {"samples": [1.0], "first": float("nan")}):
            output = io.StringIO()
            with self.assertRaises(Wrong):
                harness.report(wrong, output)
            self.assertEqual("", output.getvalue())

    def test_what_is_wrong_ends_with_status_1_and_a_word(self):
        def program():
            raise Wrong("so it is")

        with self.assertRaises(SystemExit) as end:
            harness.run(program)
        self.assertTrue(str(end.exception.code).endswith(": so it is"))


if __name__ == "__main__":
    unittest.main()
