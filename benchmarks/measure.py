#!/usr/bin/env python3
"""measure.py SERIES RUNS COMMAND…: runs the command RUNS times and prints one line of JSON: the name of the series, and of each run the
wall and processor seconds, the resident memory in bytes at its most, the bytes of its stdout, and those that it handed to write(2) and its
like. Raw samples: ci/bench keeps them, ci/figures makes medians of them. Fails when the command does."""
import json
import os
import subprocess
import sys
import tempfile
import time


def run(command):
    with tempfile.TemporaryFile() as out:
        start = time.monotonic()
        child = subprocess.Popen(command, stdout=out)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        with open("/proc/%d/io" % child.pid) as io:
            written = int(dict(line.split(": ") for line in io)["wchar"])
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
        if status != 0:
            sys.exit("%s ended with status %d" % (" ".join(command), status))
        return {"wall": round(wall, 4), "cpu": round(usage.ru_utime + usage.ru_stime, 4), "rss": usage.ru_maxrss * 1024,
                "text": out.seek(0, os.SEEK_END), "written": written}


runs = [run(sys.argv[3:]) for _ in range(int(sys.argv[2]))]
print(json.dumps({"series": sys.argv[1], **{key: [one[key] for one in runs] for key in runs[0]}}), flush=True)
