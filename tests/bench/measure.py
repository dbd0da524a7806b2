#!/usr/bin/env python3
"""measure.py RUNS COMMAND…: runs the command RUNS times and prints the least wall and processor time in seconds, the
greatest resident memory in bytes, the bytes of its last stdout, and the least that it handed to write(2) and its like, as JSON.
Fails when the command does."""
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
        return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, out.seek(0, os.SEEK_END), written


runs = [run(sys.argv[2:]) for _ in range(int(sys.argv[1]))]
print(json.dumps({"wall": round(min(r[0] for r in runs), 4), "cpu": round(min(r[1] for r in runs), 4),
                  "rss": max(r[2] for r in runs), "text": runs[-1][3],
                  "written": min(r[4] for r in runs)}))
