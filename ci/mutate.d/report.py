"""The report: a JSON line for every mutant that was drawn, and a summary in Markdown."""
import collections
import json


def counted(rows, sample):
    """The first `sample` mutants, in the order drawn, that are mutants: they compile, and to other code."""
    whole = [row for row in sorted(rows, key=lambda row: row["number"]) if row["verdict"] not in ("not compiled", "same code")]
    return whole[:sample]


def load_equivalent(path):
    """{(file name, before, after): why}: read by hand, one by one. Without folders and indents, to live through moves."""
    return {(entry["file"], entry["before"], entry["after"]): entry["why"] for entry in json.loads(path.read_text())}


def name_equivalent(row, equivalent):
    why = equivalent.get((row["file"].rpartition("/")[2], row["before"].strip(), row["after"].strip()))
    if row["verdict"] == "survived" and why:
        return dict(row, verdict="equivalent", by=why)
    return row


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def table(rows):
    by_file = collections.defaultdict(collections.Counter)
    for row in rows:
        by_file[row["file"]][row["verdict"]] += 1
    lines = ["| File | Mutants | Killed | Survived | Equivalent |", "|---|--:|--:|--:|--:|"]
    for file, counts in sorted(by_file.items()):
        lines.append(f"| {file} | {counts.total()} | {counts['killed']} | {counts['survived']} | {counts['equivalent']} |")
    return lines


def listed(rows):
    lines = []
    for row in sorted(rows, key=lambda row: (row["file"], row["line"])):
        lines += [f"{row['file']}:{row['line']}" + (f": {row['by']}" if row["by"] else ""), "", "```diff",
                  f"-{row['before']}", f"+{row['after']}", "```", ""]
    return lines


def markdown(header, rows, sample):
    judged = counted(rows, sample)
    totals = collections.Counter(row["verdict"] for row in judged)
    last = judged[-1]["number"] if judged else 0
    passed_over = collections.Counter(row["verdict"] for row in rows if row["number"] <= last)
    real = len(judged) - totals["equivalent"]
    lines = ["# Mutants that the unit tests notice", "",
             f"{len(judged)} mutants of {header['mutants']:,}, drawn with seed {header['seed']}; on the way "
             f"{passed_over['not compiled']} were passed over that do not compile, and {passed_over['same code']} that compile "
             f"to the same optimised code. Judged by {header['programs']}.", "",
             f"- killed: {totals['killed']} of {len(judged)} ({share(totals['killed'], len(judged))}); "
             f"{share(totals['killed'], real)} of those that are not equivalent",
             f"- survived: {totals['survived']} ({share(totals['survived'], len(judged))})",
             f"- equivalent: {totals['equivalent']} ({share(totals['equivalent'], len(judged))})", ""]
    lines += table(judged)
    for verdict in ("survived", "equivalent"):
        lines += ["", f"## {verdict.capitalize()}", ""] + listed([row for row in judged if row["verdict"] == verdict])
    return "\n".join(lines).rstrip() + "\n"
