"""The framework is the version asked for, and a hundred trees reach the known error on rows that were held out."""
import os
import sys

import boost
import boosted_trees


class Settings:
    framework = os.environ["KILN_NAME"]
    compilers, ranks, data, batch, workers = [], 1, "", 0, 0
    steps, threads = boosted_trees.STEPS, min(4, os.cpu_count())


try:
    said = boost.measure(Settings)
except boost.Wrong as wrong:
    sys.exit(str(wrong))
if said["framework"] != f"{Settings.framework} {os.environ['KILN_VERSION']}":
    sys.exit(f"this is {said['framework']}, not {os.environ['KILN_VERSION']}")
print(f"{said['framework']}, error {said['result']['value']:.4f} on rows that were held out")
