"""What the oracle notices: changes one thing at a time in the sources of selection, asks the changed program 100,000 questions, and counts the
changes whose answers are all as before. Run by hand, with a build folder in which `select_cases` is up to date:

  mutants.py                                 all changes of the sources that decide, with build/debug
  mutants.py --sample 150 --seed 1           150 of them, drawn by this seed
  mutants.py --list registry/select/ranking.cc      what would be changed in one source

A change that does not compile is not counted. equivalent.json names those that no answer can show, with the reason. The rest of
the build folder stays as it is: objects and programs are made in a folder of their own.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

import mutations
from compare import Judged
from image import Image
from world import CASES, World

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SOURCES = [f"registry/select/{name}.cc" for name in ("query_clauses", "host_clauses", "ranking", "comparable", "cpu_code")]
SOURCES += [f"factory/record/{name}.cc" for name in ("gpu_code", "host_needs")]
NOTICED, SURVIVED, EQUIVALENT, NOT_COMPILED = "noticed", "survived", "equivalent", "does not compile"


class Questions:
    """Worlds and the oracle's answers, made once; few first, since most mutants are noticed soon."""

    def __init__(self, worlds, folder, jobs):
        bounds = [0, *[bound for bound in (40, 400, 1600) if bound < worlds], worlds]
        self.parts = []
        for first, end in zip(bounds, bounds[1:]):
            with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
                made = list(pool.map(_world, range(first + 1, end + 1), chunksize=20))
            file = folder / f"worlds-{first}.jsonl"
            file.write_text("\n".join(text for text, _ in made) + "\n", encoding="utf-8")
            self.parts.append((file, [answer for _, answers in made for answer in answers]))

    def differing(self, program):
        """(differing answers, questions asked); stops after the first part in which one differs. A crash differs."""
        asked = 0
        for file, answers in self.parts:
            with file.open(encoding="utf-8") as worlds:
                try:
                    done = subprocess.run([program], stdin=worlds, capture_output=True, text=True, encoding="utf-8", timeout=300, check=False)
                except subprocess.TimeoutExpired:
                    return 1, asked
            asked += len(answers)
            got = [json.loads(line) for line in done.stdout.splitlines()] if done.returncode == 0 else []
            differ = sum(one["error"] != "" or (one["answer"], one["code"], one["digest"]) != answer for one, answer in zip(got, answers))
            if differ or len(got) != len(answers):
                return max(differ, 1), asked
        return 0, asked


def _world(seed):
    world = World(seed)
    images = [Image(row) for row in world.rows]
    return world.text(), [Judged(images, question, host).answer() for question, host in world.cases]


class Builder:
    """Compiles one changed source, and links select_cases with it in place of the library's."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.commands = {one["file"]: one["command"] for one in json.loads((build / "compile_commands.json").read_text())}
        shown = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "select_cases"], capture_output=True, text=True, check=True).stdout
        self.link = next(line for line in shown.splitlines() if " -o tests/select_cases " in line).removeprefix(": && ").removesuffix(" && :")

    def program(self, mutant, number):
        """None: it does not compile."""
        source, made, program = (self.folder / f"{number}{ending}" for ending in (".cc", ".o", ""))
        source.write_text(mutant.text)
        command = self.commands[str(ROOT / mutant.file)].removesuffix(str(ROOT / mutant.file))
        command = re.sub(r" -o \S+", f" -o {shlex.quote(str(made))}", command) + f"{shlex.quote(str(source))} -w"
        main = next(word for word in self.link.split() if word.endswith("select_cases.cc.o"))
        link = self.link.replace(main, f"{main} {shlex.quote(str(made))}").replace("-o tests/select_cases", f"-o {shlex.quote(str(program))}")
        for one in (command.replace(" -Werror", "").replace(" -Winvalid-pch", ""), link):
            if subprocess.run(one, shell=True, cwd=self.build, capture_output=True, check=False).returncode != 0:
                return None
        return program

    def clean(self, number):
        for ending in (".cc", ".o", ""):
            (self.folder / f"{number}{ending}").unlink(missing_ok=True)


def is_equivalent(mutant, known):
    return next((one["why"] for one in known if mutant.file.endswith(one["file"]) and one["before"].strip() == mutant.before.strip()
                 and one["after"].strip() == mutant.after.strip()), None)


def judge(mutant, number, builder, questions):
    try:
        program = builder.program(mutant, number)
        if program is None:
            return NOT_COMPILED, 0, 0
        differ, asked = questions.differing(program)
        return (NOTICED if differ else SURVIVED), differ, asked
    finally:
        builder.clean(number)


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", default=SOURCES, help=f"from the root of the repository ({' '.join(SOURCES)})")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "debug", help="the build folder (build/debug)")
    parser.add_argument("--worlds", type=int, default=100_000 // CASES, help=f"of {CASES} questions each ({100_000 // CASES})")
    parser.add_argument("--sample", type=int, default=0, help="how many to judge, drawn by the seed (all)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at once")
    parser.add_argument("--lines", default="", help="only of lines that match this regular expression")
    parser.add_argument("--list", action="store_true", help="print the changes, and make none")
    return parser.parse_args()


def drawn(options):
    found = [mutant for source in options.sources for mutant in mutations.of_file(source, (ROOT / source).read_text())]
    found = [mutant for mutant in found if re.search(options.lines, mutant.before)]
    random.Random(options.seed).shuffle(found)
    return found


def main():
    options = read_arguments()
    mutants = drawn(options)
    if options.list:
        print("\n".join(mutant.name() for mutant in mutants))
        return
    known = json.loads((HERE / "equivalent.json").read_text())
    counts = dict.fromkeys((NOTICED, SURVIVED, EQUIVALENT, NOT_COMPILED), 0)
    with tempfile.TemporaryDirectory(prefix="kiln-mutants-") as name:
        folder = pathlib.Path(name)
        questions, builder = Questions(options.worlds, folder, options.jobs), Builder(options.build.resolve(), folder)
        differ, asked = questions.differing(builder.build / "tests" / "select_cases")
        if differ:
            sys.exit(f"the program itself answers {differ} of {asked} questions otherwise than the oracle")
        print(f"{len(mutants)} changes are possible; the program answers {asked} questions as the oracle does", flush=True)
        wanted = options.sample or len(mutants)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            batch = iter(enumerate(mutants))
            while (missing := wanted - sum(counts[one] for one in (NOTICED, SURVIVED, EQUIVALENT))) > 0:
                some = [one for _, one in zip(range(missing), batch)]
                if not some:
                    break
                futures = [(mutant, pool.submit(judge, mutant, number, builder, questions)) for number, mutant in some]
                for mutant, future in futures:
                    tell(mutant, *future.result(), known, counts)
    judged = counts[NOTICED] + counts[SURVIVED]
    print(f"{judged + counts[EQUIVALENT]} changes: {counts[NOTICED]} noticed ({100 * counts[NOTICED] / max(judged, 1):.1f} % of those that an answer can show), "
          f"{counts[SURVIVED]} not, {counts[EQUIVALENT]} equivalent; {counts[NOT_COMPILED]} do not compile")


def tell(mutant, verdict, differ, asked, known, counts):
    why = is_equivalent(mutant, known) if verdict == SURVIVED else None
    verdict = EQUIVALENT if why else verdict
    counts[verdict] += 1
    if verdict == NOTICED:
        print(f"noticed by {differ} of {asked}: {mutant.name()}", flush=True)
    elif verdict != NOT_COMPILED:
        print(f"{verdict}{f' ({why})' if why else ''}: {mutant.name()}", flush=True)


if __name__ == "__main__":
    main()
