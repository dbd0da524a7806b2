"""mpi_pairs.py latency|bandwidth: two ranks on this machine, by the image's MPI, as the OSU micro-benchmarks of these names measure.

latency: a message of 8 bytes goes forth and back, blocking; half of the time of a round. bandwidth: a window of 64 messages of 1 MiB goes
forth, not blocking, and a short answer comes back. MPI is called through ctypes, as images have no compiler: each call costs some Python, so
figures are for comparing images, not with OSU's own programs. Works under Python 2.7 and 3.
"""
import ctypes
import os
import sys

import harness
from harness import Wrong

RANKS = 2
SHORT, ROUNDS = 8, 1000  # bytes; round trips of one sample
LONG, WINDOW, WINDOWS = 1 << 20, 64, 4  # bytes; messages of a window; windows of one sample
STEPS = 30


class OpenMpi(object):
    """Handles are addresses of objects in the library (mpi.h)."""

    Request = ctypes.c_void_p
    no_status = ctypes.c_void_p(None)

    def __init__(self):
        self.library = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
        self.world, self.byte = (ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(self.library, name)))
                                 for name in ("ompi_mpi_comm_world", "ompi_mpi_byte"))


class Mpich(object):
    """Handles are numbers (the MPICH ABI's mpi.h)."""

    Request = ctypes.c_int
    no_status = ctypes.c_void_p(1)

    def __init__(self):
        self.library = ctypes.CDLL("libmpich.so.12", mode=ctypes.RTLD_GLOBAL)
        self.world, self.byte = ctypes.c_int(0x44000000), ctypes.c_int(0x4C00010D)


def check(status, call):
    if status != 0:
        raise Wrong("%s answers %d" % (call, status))


class Pair(object):
    """One of the two ranks."""

    def __init__(self):
        self.mpi = OpenMpi() if "OMPI_COMM_WORLD_SIZE" in os.environ else Mpich()
        library = self.mpi.library
        check(library.MPI_Init(None, None), "MPI_Init")
        rank, size, length = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        check(library.MPI_Comm_rank(self.mpi.world, ctypes.byref(rank)), "MPI_Comm_rank")
        check(library.MPI_Comm_size(self.mpi.world, ctypes.byref(size)), "MPI_Comm_size")
        if size.value != RANKS:
            raise Wrong("there are %d ranks, not %d" % (size.value, RANKS))
        text = ctypes.create_string_buffer(8192)
        check(library.MPI_Get_library_version(text, ctypes.byref(length)), "MPI_Get_library_version")
        self.version = " ".join(text.value.decode().split("\n")[0].split(",")[0].split())
        self.rank, self.other = rank.value, 1 - rank.value

    def arguments(self, buffer, size):
        return buffer, size, self.mpi.byte, self.other, 0, self.mpi.world

    def send(self, buffer, size):
        check(self.mpi.library.MPI_Send(*self.arguments(buffer, size)), "MPI_Send")

    def receive(self, buffer, size):
        check(self.mpi.library.MPI_Recv(*(self.arguments(buffer, size) + (self.mpi.no_status,))), "MPI_Recv")

    def window(self, call, buffer, size):
        requests = (self.mpi.Request * WINDOW)()
        function = getattr(self.mpi.library, call)
        for number in range(WINDOW):
            place = ctypes.byref(requests, number * ctypes.sizeof(self.mpi.Request))
            check(function(*(self.arguments(buffer, size) + (place,))), call)
        check(self.mpi.library.MPI_Waitall(WINDOW, requests, self.mpi.no_status), "MPI_Waitall")


def latency(pair, number):
    """Both ranks: ROUNDS rounds; every message is one that tells its sample."""
    mine, theirs = ctypes.create_string_buffer(SHORT), ctypes.create_string_buffer(SHORT)
    ctypes.memset(mine, number % 251 + 1, SHORT)
    calls = ((pair.send, mine), (pair.receive, theirs))
    for _ in range(ROUNDS):
        for call, buffer in calls if pair.rank == 0 else reversed(calls):
            call(buffer, SHORT)
    return theirs.raw == mine.raw


BUFFER = ctypes.create_string_buffer(LONG)


def bandwidth(pair, number):
    """Rank 0 sends windows, rank 1 answers each with its last byte."""
    answer = ctypes.create_string_buffer(4)
    word = number % 251 + 1
    ctypes.memset(BUFFER, word if pair.rank == 0 else 0, LONG)
    for _ in range(WINDOWS):
        pair.window("MPI_Isend" if pair.rank == 0 else "MPI_Irecv", BUFFER, LONG)
        if pair.rank == 0:
            pair.receive(answer, 4)
        else:
            ctypes.memset(answer, ord(BUFFER.raw[-1:]), 4)
            pair.send(answer, 4)
    return ord(answer.raw[:1]) == word


def measurement(what, pair, steps):
    first, times, right = harness.timed(lambda number: {"latency": latency, "bandwidth": bandwidth}[what](pair, number), steps)
    if not all(right):
        raise Wrong("a message did not arrive as it was sent")
    if what == "latency":
        def figure(milliseconds):
            return round(milliseconds * 1000 / (2 * ROUNDS), 4)
    else:
        def figure(milliseconds):
            return round(LONG * WINDOW * WINDOWS / milliseconds / 1e6, 4)
    unit, message = ("us/message", SHORT) if what == "latency" else ("GB/s", LONG)
    return {
        "unit": unit, "samples": [figure(time) for time in times], "first": figure(first), "framework": pair.version, "threads": 1,
        "ranks": RANKS, "message_bytes": message, "result": {"what": "messages arrive as sent", "ok": True, "value": 1, "expected": 1},
    }


def main():
    if len(sys.argv) == 2:  # not a rank yet
        os.environ.pop("KILN_BENCH_RANKS", None)
        os.execvp("sh", ["sh", "-eu", "./mpirun.sh", str(RANKS), sys.executable, sys.argv[0], sys.argv[1], "rank"])
    steps = harness.Settings(os.environ, STEPS).steps
    pair = Pair()
    said = measurement(sys.argv[1], pair, steps)
    check(pair.mpi.library.MPI_Finalize(), "MPI_Finalize")
    if pair.rank == 0:
        harness.report(said)


if __name__ == "__main__":
    harness.run(main)
