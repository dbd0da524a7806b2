"""Many mutants of a file in one source: a function that has some holds its body once for each, and $KILN_MUTANT chooses. Compiling
is most of the work, so that this is what makes a run of hundreds bearable."""
import re

import drawing

# A mutant's code stands on lines of a file `mutant-<number>`: that is how the compiler's errors are told apart.
CHOICE = """#include <cstdlib>
static const int kiln_mutant = [] {{
  const char* number = ::getenv("KILN_MUTANT");
  return number == nullptr ? -1 : ::atoi(number);
}}();
#line 1 "{file}"
"""


def function_bodies(text):
    """The places (after the brace, at its end) of the functions' bodies, outermost ones only."""
    mask = drawing.code_mask(text)
    found, open_blocks, head = [], [], ""
    for place, character in enumerate(text):
        if mask[place] != drawing.CODE:
            continue
        inside = any(kind != "container" for kind, _ in open_blocks)
        if character == "{":
            kind = "function" if "(" in head and not inside else "other"
            if re.search(r"\b(namespace|class|struct|enum|union)\b", head) and "(" not in head and not inside:
                kind = "container"
            open_blocks.append((kind, place + 1))
        elif character == "}":
            kind, begin = open_blocks.pop()
            if kind == "function":
                found.append((begin, place))
        head = "" if character in "{};" else head + character
    return found


def mutated(text, mutant):
    """The file with the mutant's line, and where that line begins and ends in it."""
    lines = text.split("\n")
    begin = sum(len(line) + 1 for line in lines[:mutant.line - 1])
    changed = text[:begin] + mutant.after + text[begin + len(mutant.before):]
    return changed, begin


def place_in(bodies, text, mutant):
    """The body that holds all that the mutant changes, or None."""
    _, begin = mutated(text, mutant)
    first, last = (begin + place for place in drawing.changed_part(mutant.before, mutant.after))
    return next(((start, end) for start, end in bodies if start <= first and last <= end), None)


def combined(file, text, numbered):
    """The source that holds the mutants (a dictionary by number), and the numbers of those that it cannot hold."""
    bodies = function_bodies(text)
    by_body, alone = {}, []
    for number, mutant in numbered.items():
        body = place_in(bodies, text, mutant)
        if body is None:
            alone.append(number)
        else:
            by_body.setdefault(body, []).append(number)
    parts, done = [CHOICE.format(file=file)], 0
    for (start, end), numbers in sorted(by_body.items()):
        line = text.count("\n", 0, start) + 1
        parts.append(text[done:start] + "\nswitch (kiln_mutant) {\n")
        for number in numbers:
            changed, _ = mutated(text, numbered[number])
            body = changed[start:end + len(changed) - len(text)]
            parts.append(f"case {number}: {{\n#line {line} \"mutant-{number}\"\n{body}\n}} break;\n")
        parts.append(f"default: {{\n#line {line} \"{file}\"\n{text[start:end]}\n}} break;\n}}\n")
        done = end
    return "".join(parts) + text[done:], alone


def refused(output):
    """The numbers of the mutants in the compiler's errors; an empty set when it does not say."""
    on_errors = set(re.findall(r"^mutant-(\d+):\d+:\d+: (?:fatal )?error", output, re.M))
    return {int(number) for number in on_errors or set(re.findall(r"\bmutant-(\d+):", output))}
