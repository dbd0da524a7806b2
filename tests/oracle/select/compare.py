"""Asks the program random questions by seed and compares its answers with the oracle's: whatever it answers can run there and
suits, nothing better was there, and where it answers nothing, there was nothing. See README.md."""
import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys

from better import Order, first_difference
from image import Host, Image
from runs import CLAUSES, does, fails
from world import CASES, World

NONE = ("", "", "")


class Judged:
    """One case: the images that run and suit, in order."""

    def __init__(self, images, question, written_host):
        self.question, self.written = question, written_host
        self.host = Host(written_host) if written_host else None
        self.images = images
        good = [image for image in images if does(image, question, self.host)]
        self.order = Order(good, question, self.host)
        self.ranked = sorted(((self.order.key(image), image) for image in good), key=lambda one: one[0])

    def fails(self, image):
        return fails(image, self.question, self.host)

    def answer(self):
        return identity(self.ranked[0][1]) if self.ranked else NONE

    def decided(self):
        """Which preference chose the winner; which clauses alone kept a better image from winning."""
        if len(self.ranked) > 1:
            yield first_difference(self.ranked[0][0], self.ranked[1][0])
        best = self.ranked[0][0] if self.ranked else None
        for image in self.images:
            failed = self.fails(image)
            if len(failed) == 1 and (best is None or self.order.key(image) < best):
                yield f"clause {failed[0][0]}"

    def why_not(self, answer):
        """What is wrong with this answer, and the images concerned."""
        if answer == NONE:
            return f"nothing was answered, and {self.ranked[0][1].name} runs there and suits", [self.ranked[0][1]]
        image = next((one for one in self.images if identity(one) == answer), None)
        if image is None:
            return f"there is no image {answer}", []
        failed = self.fails(image)
        best = [self.ranked[0][1]] if self.ranked else []
        if failed:
            return f"{image.name} does not run there, or does not suit: {'; '.join(f'{clause}: {why}' for clause, why in failed)}", [image, *best]
        term = first_difference(self.ranked[0][0], self.order.key(image))
        return f"{best[0].name} is better than {image.name} by '{term}'", [image, *best]


def identity(image):
    return image.name, image.code, image.digest


def kind_of(message):
    """For counting: the same message about other images is the same fault."""
    if " by '" in message:
        return "something better by '" + message.split(" by '")[1]
    if ": " in message:
        return "fails clause " + message.split(": ")[1]
    return message.split(",")[0]


def readable(seed, case, judged, got):
    message, images = judged.why_not(tuple(got[key] for key in ("answer", "code", "digest"))) if not got["error"] else (f"error: {got['error']}", [])
    lines = [f"seed {seed}, case {case}: {message}", f"  oracle:   {judged.answer()[0] or 'nothing'}", f"  program:  {got['answer'] or 'nothing'}",
             f"  question: {json.dumps(judged.question.document, ensure_ascii=False)}{' --allow-failing' if judged.question.allow_failing else ''}",
             f"  host:     {json.dumps(judged.written, ensure_ascii=False)}"]
    lines += [f"  image:    {json.dumps({**image.row, 'image': image.record}, ensure_ascii=False)}" for image in images]
    lines.append(f"  again:    compare.py --program … --first {seed} --worlds 1")
    return kind_of(message), "\n".join(lines)


def ask(program, world):
    """Starts nothing: `program` runs and answers a line a case."""
    program.stdin.write(world.text() + "\n")
    program.stdin.flush()
    answers = []
    for _ in world.cases:
        line = program.stdout.readline()
        if not line:
            raise RuntimeError(f"the program died on seed {world.seed}, exit code {program.wait()}")
        answers.append(json.loads(line))
    return answers


def run(options, seeds):
    """Some worlds with one program: counts, and what differs."""
    counts, decided, kinds, shown = collections.Counter(), collections.Counter(), collections.Counter(), []
    with subprocess.Popen([options.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8") as program:
        for seed in seeds:
            world = World(seed, new_keys=not options.without_new_keys)
            answers = ask(program, world)
            images = [Image(row) for row in world.rows]
            for case, ((question, host), got) in enumerate(zip(world.cases, answers)):
                judged = Judged(images, question, host)
                counts["cases"] += 1
                counts["answered"] += bool(judged.ranked)
                if options.counts:
                    decided.update(judged.decided())
                if got["error"] or tuple(got[key] for key in ("answer", "code", "digest")) != judged.answer():
                    counts["different"] += 1
                    kind, text = readable(seed, case, judged, got)
                    kinds[kind] += 1
                    if kinds[kind] <= options.show_each:
                        shown.append(text)
            if counts["different"] and options.stop:
                break
        program.stdin.close()
    return counts, decided, kinds, shown


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="select_cases")
    parser.add_argument("--worlds", type=int, default=1000, help=f"how many random worlds, {CASES} cases each (default: 1000)")
    parser.add_argument("--first", type=int, default=1, help="the first seed (default: 1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at once")
    parser.add_argument("--show", type=int, default=5, help="how many differences to print (default: 5)")
    parser.add_argument("--show-each", type=int, default=1, help="how many of each kind (default: 1)")
    parser.add_argument("--stop", action="store_true", help="stop after the first world with a difference")
    parser.add_argument("--counts", action="store_true", help="print how often each clause and each preference decided")
    parser.add_argument("--without-new-keys", action="store_true", help="for a program that does not know `requires` and the like")
    options = parser.parse_args()
    counts, decided, kinds, shown = collections.Counter(), collections.Counter(), collections.Counter(), []
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        parts = [range(options.first + job, options.first + options.worlds, options.jobs) for job in range(options.jobs)]
        for part in pool.map(run, [options] * options.jobs, parts):
            for whole, of_part in zip((counts, decided, kinds), part):
                whole.update(of_part)
            shown += part[3]
    for text in shown[:options.show]:
        print(text + "\n")
    if options.counts:
        print_counts(decided)
    for kind, number in kinds.most_common():
        print(f"{number:7} {kind}")
    print(f"{counts['cases']} cases, {counts['answered']} with an answer, {counts['different']} differ")
    sys.exit(1 if counts["different"] else 0)


def print_counts(decided):
    print("decided:")
    names = [f"clause {clause.__name__}" for clause in CLAUSES]
    for name in [*names, *sorted(set(decided) - set(names))]:
        print(f"{decided[name]:7} {name}")


if __name__ == "__main__":
    main()
