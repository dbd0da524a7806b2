"""What all workloads have in common: their settings, the clock, the checks, and the line that is the measurement.

A workload's last line is one JSON object (docs/measure.md). What is wrong ends the program with a word on the error output and no
such line: a wrong result has no speed. Works under Python 2.7 and 3, and needs neither NumPy nor a framework.
"""
import json
import os
import sys


class Wrong(Exception):
    """The measurement does not count; the text says why."""


def _monotonic():
    """A clock that no one sets: Python 3's, or the C library's (clock_gettime(2)), which Python 2 does not offer."""
    import time

    if hasattr(time, "perf_counter"):
        return time.perf_counter
    import ctypes

    class Timespec(ctypes.Structure):
        _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]

    library = ctypes.CDLL("libc.so.6", use_errno=True)
    monotonic = 1  # CLOCK_MONOTONIC of Linux

    def clock():
        read = Timespec()
        if library.clock_gettime(monotonic, ctypes.byref(read)) != 0:
            raise Wrong("there is no monotonic clock: " + os.strerror(ctypes.get_errno()))
        return read.seconds + read.nanoseconds * 1e-9

    return clock


now = _monotonic()


def processors():
    """How many this process may use, as the kernel says (proc(5)); Python 2 cannot ask otherwise."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("Cpus_allowed_list:"):
                ranges = [part.split("-") for part in line.split()[1].split(",")]
                return sum(int(part[-1]) - int(part[0]) + 1 for part in ranges)
    raise Wrong("/proc/self/status names no processors")


def whole_number(environment, name, default, least=1):
    text = environment.get(name, "") or str(default)
    if not text.isdigit() or int(text) < least:
        raise Wrong("%s is %r; it must be a whole number from %d" % (name, text, least))
    return int(text)


class Settings(object):
    """What kiln says in the environment; `default_steps` where it says no number."""

    def __init__(self, environment, default_steps):
        self.framework = environment.get("KILN_FRAMEWORK_NAME", "")
        self.compilers = environment.get("KILN_COMPILERS", "").split()
        self.steps = whole_number(environment, "KILN_BENCH_STEPS", default_steps)
        self.ranks = whole_number(environment, "KILN_BENCH_RANKS", 1)
        self.data = environment.get("KILN_BENCH_DATA", "")
        self.batch = whole_number(environment, "KILN_BENCH_BATCH", 0, 0)  # 0: the network's
        self.workers = whole_number(environment, "KILN_BENCH_WORKERS", 0, 0)  # processes that load batches; 0: before the first step
        self.processors = processors()  # before a framework's OpenMP binds this process
        # Threads of a rank: as the image or its user says, else the processors in equal parts.
        self.threads = whole_number(environment, "OMP_NUM_THREADS", max(1, self.processors // self.ranks))


def timed(step, steps, clock=now):
    """Calls `step(number)` once and then `steps` times. (milliseconds of the first, of the others, what each returned)"""
    times, results = [], []
    for number in range(steps + 1):
        start = clock()
        results.append(step(number))
        took = clock() - start
        if not took > 0:
            raise Wrong("the clock went from %r to %r while step %d ran" % (start, start + took, number))
        times.append(round(took * 1000, 4))
    return times[0], times[1:], results


def _is_number(value):
    return value == value and abs(value) != float("inf")


def check_losses(losses):
    """The result of a training that is one: finite, and below its start by the last quarter of the steps."""
    for number, loss in enumerate(losses):
        if not _is_number(loss):
            raise Wrong("the loss of step %d is %r" % (number, loss))
    last = losses[-max(1, len(losses) // 4):]
    reached = sum(last) / len(last)
    if not reached < losses[0]:
        raise Wrong("the loss went from %.6g to %.6g: this is not training" % (losses[0], reached))
    return {"what": "loss falls", "ok": True, "value": reached, "expected": losses[0]}


def check_close(what, value, expected, tolerance):
    """`tolerance` is a part of what is expected."""
    if not _is_number(value) or abs(value - expected) > tolerance * abs(expected):
        raise Wrong("%s is %r, and not %r: this is another computation" % (what, value, expected))


def check_workers(processors_of_worker, processors_of_all):
    """OpenMP that binds its threads to cores binds the process as well, and with it all workers that it starts to one core."""
    if processors_of_worker < processors_of_all:
        raise Wrong("the workers of the data loader may use %d of %d processors: OpenMP's binding (OMP_PROC_BIND, GOMP_CPU_AFFINITY, "
                    "KMP_AFFINITY) pins them, too" % (processors_of_worker, processors_of_all))


def check_parameters(found, wanted):
    if found != wanted:
        raise Wrong("the network has %d parameters, not %d" % (found, wanted))


def check_samples(samples):
    if not samples:
        raise Wrong("there are no samples")
    for sample in samples:
        if not _is_number(sample) or not sample > 0:
            raise Wrong("a sample is %r" % sample)


def report(measurement, output=None):
    """Prints the line. No figure in it is anything but a number, and each sample, of each metric if there are several, is greater than 0."""
    for part in measurement["metrics"].values() if measurement.get("metrics") else [measurement]:
        check_samples(part.get("samples"))
    try:
        line = json.dumps(measurement, allow_nan=False, sort_keys=True)
    except ValueError:
        raise Wrong("the measurement has a figure that is no number")
    output = output or sys.stdout
    output.write(line + "\n")
    output.flush()


def run(program):
    """Runs `program()`; what is wrong is said in a line, with exit status 1."""
    try:
        program()
    except Wrong as wrong:
        sys.stdout.flush()
        sys.exit("%s: %s" % (os.path.basename(sys.argv[0]), wrong))
