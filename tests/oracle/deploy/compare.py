#!/usr/bin/env python3
"""Hostile documents, rendered by kiln and read again by reader.py, give the values that they were made of.

  compare.py --program BUILD/tests/deploy_cases [--documents 10000] [--seed 0] [--sbatch 200] [--shellcheck 100] [--bash 100]

A script has as many words as that of the same job with harmless values, and each differs from its word there only where a value
stands. Where the programs are installed, some scripts are read by sbatch itself, run by bash with recorders in place of the programs
that they start, and checked by shellcheck.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import documents
import reader

CONFIGURATION = """ClusterName=t
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=1
MessageTimeout=1
NodeName=n[1-2] CPUs=4
PartitionName=p Nodes=n[1-2]
GresTypes=gpu
"""


class Asker:
    """The program, and its answers by question: many at a time."""

    def __init__(self, program):
        self.program = program

    def __call__(self, questions):
        lines = "".join(json.dumps(one) + "\n" for one in questions)
        out = subprocess.run([self.program], input=lines.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()
        answers = [json.loads(line) for line in out.splitlines()]
        if len(answers) != len(questions):
            raise SystemExit(f"{len(answers)} answers to {len(questions)} questions")
        return answers


def differing(words, harmless, values):
    """The values that stand in place of harmless words; fails where anything else differs."""
    if len(words) != len(harmless):
        raise AssertionError(f"{len(words)} words, and {len(harmless)} with harmless values: {words} {harmless}")
    found = []
    for here, there in zip(words, harmless):
        if here == there:
            continue
        value = here
        if there.startswith(">") and here.startswith(">"):  # exec >FILE
            value, there = here[1:], there[1:]
        if there.startswith("2>") and here.startswith("2>"):
            value, there = here[2:], there[2:]
        if there.startswith("build-"):
            value = value.removeprefix("build-")
        if value not in values:
            raise AssertionError(f"'{there}' became '{here}'")
        found.append(value)
    return found


def check(document, answer, harmless):
    if "error" in answer:
        raise AssertionError(answer["error"])
    read = dict(reader.directives(answer["job"]))
    for option, value in document.directives.items():
        if read.get(option) != value:
            raise AssertionError(f"{option}: {read.get(option)!r} in place of {value!r}")
    if list(read) != list(dict(reader.directives(harmless["job"]))):
        raise AssertionError(f"other directives: {read}")
    words = reader.commands(answer["job"])
    differing(words, reader.commands(harmless["job"]), document.values())
    if words[-len(document.words):] != document.words:
        raise AssertionError(f"the command is {words[-len(document.words):]}, not {document.words}")
    for name, value in document.variables.items():
        if f"{name}={value}" not in words:
            raise AssertionError(f"{name} is not {value!r}")
    for command in document.before + document.after:
        if not any(word == command and before == "eval" for before, word in zip(words, words[1:])):
            raise AssertionError(f"not in an eval: {command!r}")
    if document.build:
        build = reader.commands(answer["build"])
        differing(build, reader.commands(harmless["build"]), document.values())
        if build[-3:] != ["sh", "-ec", document.build]:
            raise AssertionError(f"the build is {build[-3:]}")


def read_by_sbatch(folder, script, document):
    file = folder / "job.sh"
    file.write_text(script)
    said = ""
    # It goes on to look for a controller, which is not needed here.
    with subprocess.Popen(["sbatch", "-vv", "--test-only", str(file)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env={"PATH": os.environ["PATH"], "SLURM_CONF": str(folder / "slurm.conf")}) as run:
        for line in run.stderr:
            said += line
            if "end of defined options" in line:
                break
        run.kill()
    if "end of defined options" not in said:
        raise AssertionError(said)
    read = dict(re.findall(r"^sbatch: ([a-z-]+) +: (.*)$", said, re.M))
    for option, value in document.directives.items():
        shown = read.get(option, "")
        if option in ("output", "error") and not value.startswith("/"):
            shown = shown.removeprefix(f"{folder}/")
        if shown != value:
            raise AssertionError(f"sbatch reads {option} as {shown!r}, not {value!r}")


RECORDER = """#!/bin/bash
printf '%s\\0' "$0" "$@" >>"$KILN_RECORD"
printf '\\1\\0' >>"$KILN_RECORD"
"""


def run_by_bash(folder, script, document):
    """Only for documents without commands of their own: those are run, as they ask for."""
    record = folder / "record"
    record.write_bytes(b"")
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    (folder / "job.sh").write_text(script)
    (folder / "x_1.sif").write_text("")
    run = subprocess.run(["bash", str(folder / "job.sh")], cwd=work, capture_output=True, text=True, timeout=60,
                         env={"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "KILN_RECORD": str(record), "SLURM_SUBMIT_DIR": str(work),
                              "PBS_O_WORKDIR": str(work), "SINGULARITY_DIR": str(folder)})
    if run.returncode != 0:
        raise AssertionError(f"bash ends with {run.returncode}: {run.stderr}")
    calls = [[word.decode() for word in call.split(b"\0")[:-1]] for call in record.read_bytes().split(b"\1\0")[:-1]]
    if len(calls) != 1 or calls[0][-len(document.words):] != document.words:
        raise AssertionError(f"bash starts {calls}, not {document.words}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    for name, default in (("documents", 10000), ("seed", 0), ("sbatch", 200), ("shellcheck", 100), ("bash", 100)):
        parser.add_argument("--" + name, type=int, default=default)
    options = parser.parse_args()
    ask = Asker(options.program)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="kiln-deploy-"))
    (folder / "slurm.conf").write_text(CONFIGURATION)
    (folder / "bin").mkdir()
    for name in ("singularity", "apptainer", "podman", "ch-run", "sarus", "shifter", "srun", "mpirun"):
        (folder / "bin" / name).write_text(RECORDER)
        (folder / "bin" / name).chmod(0o755)
    counts = {"read": 0, "refused": 0, "sbatch": 0, "bash": 0, "shellcheck": 0}
    failures = 0
    for first in range(options.seed, options.seed + options.documents, 500):
        seeds = range(first, min(first + 500, options.seed + options.documents))
        made = [documents.Document(documents.by_seed(seed)) for seed in seeds]
        wrong = [documents.refused(documents.by_seed(f"wrong-{seed}")) for seed in seeds[::4]]
        answers = ask([one.question() for one in made] + [one.question(True) for one in made] + [one for one, _ in wrong])
        for place, (seed, document) in enumerate(zip(seeds, made)):
            answer, harmless = answers[place], answers[place + len(made)]
            try:
                check(document, answer, harmless)
                counts["read"] += 1
                if document.scheduler == "slurm" and counts["sbatch"] < options.sbatch and shutil.which("sbatch"):
                    read_by_sbatch(folder, answer["job"], document)
                    counts["sbatch"] += 1
                if not document.before and not document.after and document.scheduler != "none" and counts["bash"] < options.bash:
                    run_by_bash(folder, answer["job"], document)
                    counts["bash"] += 1
                if counts["shellcheck"] < options.shellcheck and shutil.which("shellcheck"):
                    # Of what the writer writes: with harmless values, since shellcheck reads a document's commands, too.
                    for script in filter(None, (harmless["job"], harmless["build"])):
                        subprocess.run(["shellcheck", "-"], input=script.encode(), check=True, stdout=sys.stderr)
                    counts["shellcheck"] += 1
            except (AssertionError, reader.Malformed, ValueError, subprocess.CalledProcessError) as error:
                failures += 1
                print(f"seed {seed} ({document.scheduler}, {document.runtime}): {error}\n{document.question()['document']}\n"
                      f"{answer.get('job', '')}", file=sys.stderr)
                if failures > 3:
                    return 1
        for (question, pointer), answer in zip(wrong, answers[2 * len(made):]):
            if f"(at {pointer}" not in answer.get("error", ""):
                failures += 1
                print(f"no error at {pointer}: {question['document']}\n{answer}", file=sys.stderr)
            counts["refused"] += 1
    if any(folder.rglob("canary")) or pathlib.Path("canary").exists():
        print("a value was run: there is a file 'canary'", file=sys.stderr)
        failures += 1
    shutil.rmtree(folder)
    print(", ".join(f"{number} {what}" for what, number in counts.items()))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
