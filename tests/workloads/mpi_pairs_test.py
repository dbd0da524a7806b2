"""mpi_pairs.py without an MPI: two threads whose messages go through queues."""
import ctypes
import queue
import threading
import unittest

import recipe_files  # noqa: F401 (finds the modules)
import mpi_pairs
from harness import Wrong


class Threads(object):
    """What mpi_pairs.Pair does, for one of two threads. `spoil`: a function over the bytes of each message on its way."""

    version = "threads"

    def __init__(self, rank, queues, spoil=None):
        self.rank, self.queues, self.spoil = rank, queues, spoil or (lambda data: data)

    def send(self, buffer, size):
        self.queues[1 - self.rank].put(self.spoil(buffer.raw[:size]))

    def receive(self, buffer, size):
        ctypes.memmove(buffer, self.queues[self.rank].get(timeout=20), size)

    def window(self, call, buffer, size):
        for _ in range(mpi_pairs.WINDOW):
            {"MPI_Isend": self.send, "MPI_Irecv": self.receive}[call](buffer, size)


def measured(what, spoil=None):
    """What rank 0 measures, or the Wrong that it raises."""
    queues, found = [queue.Queue(), queue.Queue()], {}

    def rank(number):
        try:
            found[number] = mpi_pairs.measurement(what, Threads(number, queues, spoil), 2)
        except Wrong as wrong:
            found[number] = wrong

    threads = [threading.Thread(target=rank, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found[0]


class Pairs(unittest.TestCase):
    def setUp(self):
        self.kept = {name: getattr(mpi_pairs, name) for name in ("ROUNDS", "LONG", "WINDOW", "WINDOWS", "BUFFER")}
        mpi_pairs.ROUNDS, mpi_pairs.WINDOW = 10, 4
        self.addCleanup(lambda: [setattr(mpi_pairs, name, value) for name, value in self.kept.items()])

    def test_latency(self):
        said = measured("latency")
        self.assertEqual(("us/message", 2, 8, 2), (said["unit"], len(said["samples"]), said["message_bytes"], said["ranks"]))

    def test_a_message_that_changes_on_its_way(self):
        said = measured("latency", lambda data: data[:-1] + b"x")
        self.assertIsInstance(said, Wrong)
        self.assertIn("did not arrive as it was sent", str(said))

    def test_figures_are_of_the_bytes_and_rounds(self):
        real = mpi_pairs.harness.timed
        self.addCleanup(setattr, mpi_pairs.harness, "timed", real)
        mpi_pairs.harness.timed = lambda step, steps: (4.0, [2.0], [True, True])
        pair = Threads(0, None)
        self.assertEqual([2.0 * 1000 / 20], mpi_pairs.measurement("latency", pair, 1)["samples"])
        said = mpi_pairs.measurement("bandwidth", pair, 1)
        bytes_sent = (1 << 20) * 4 * mpi_pairs.WINDOWS
        self.assertEqual(("GB/s", [round(bytes_sent / 0.002 / 1e9, 4)]), (said["unit"], said["samples"]))


class BandwidthInOneBuffer(unittest.TestCase):
    """The buffer is a process's own: the two threads get one each by taking turns."""

    def test_the_answer_is_the_last_byte(self):
        class Echo(object):
            rank, version = 0, "echo"

            def window(self, call, buffer, size):
                self.word = buffer.raw[-1:] if call == "MPI_Isend" else b""

            def receive(self, buffer, size):
                ctypes.memmove(buffer, self.word * size, size)

        self.assertTrue(mpi_pairs.bandwidth(Echo(), 5))
        lost = Echo()
        lost.window = lambda call, buffer, size: setattr(lost, "word", b"\0")
        self.assertFalse(mpi_pairs.bandwidth(lost, 5))


if __name__ == "__main__":
    unittest.main()
