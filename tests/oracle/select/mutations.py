"""Small changes of C++ sources, such as a person might make by mistake: one comparison, condition, constant, clause or term of an order at a time."""
import dataclasses
import re

SWAPS = [  # of operators with spaces around them, and of words
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" < ", " > "), (r" > ", " < "), (r" == ", " != "), (r" != ", " == "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "), (r" <=> ", " == "),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"!(?=[\w(])", ""), (r"\bany_of\b", "all_of"), (r"\ball_of\b", "any_of"), (r"\bnone_of\b", "any_of"),
    (r"\bmax\b", "min"), (r"\bmin\b", "max"), (r"\bmax_element\b", "min_element"), (r"\bmin_element\b", "max_element"),
    (r"\.front\(\)", ".back()"), (r"\.back\(\)", ".front()"), (r"\bcontinue;", ";"), (r"\bbreak;", ";"),
    (r"\breturn std::strong_ordering::less", "return std::strong_ordering::greater"),
]
NUMBER = re.compile(r"(?<![\w.\"'])([0-9]+)(?![\w.\"'])")
TERM = re.compile(r"[^;={}]*[^;={}\s,],$|\{.*\},$")  # a line of a list: a clause, a term of an order


@dataclasses.dataclass
class Mutant:
    file: str
    line: int  # 1 …
    before: str
    after: str
    text: str = ""  # of the whole file

    def name(self):
        return f"{self.file}:{self.line}\n    - {self.before.strip()}\n    + {self.after.strip() or '(nothing)'}"


def _strings_hidden(line):
    """String literals and comments as blanks of the same length: words for people."""
    hide = lambda found: '"' + " " * (len(found[0]) - 2) + '"'
    line = re.sub(r'"(\\.|[^"\\])*"', hide, line)
    return line.split("//")[0]


def _conditions(plain):
    """From and to of what stands in `if (…)` and `while (…)`, where it ends in this line and declares nothing."""
    for found in re.finditer(r"\b(if|while) \(", plain):
        depth = 1
        for at in range(found.end(), len(plain)):
            depth += {"(": 1, ")": -1}.get(plain[at], 0)
            if depth == 0:
                if not re.search(r"[^=!<>]=[^=]|;", plain[found.end():at]):
                    yield found.end(), at
                break


def _changes(line, following):
    """(this line, the next one) after each change."""
    plain = _strings_hidden(line)
    for pattern, other in SWAPS:
        for found in re.finditer(pattern, plain):
            yield line[:found.start()] + other + line[found.end():], following
    for start, end in _conditions(plain):
        yield line[:start] + "true" + line[end:], following
        yield line[:start] + "false" + line[end:], following
    for found in NUMBER.finditer(plain):
        for number in (int(found[1]) + 1, int(found[1]) - 1):
            if number >= 0:
                yield line[:found.start()] + str(number) + line[found.end():], following
    if re.match(r"\s*(else )?if \(.*\) return\b.*;$", plain):
        yield "", following
    if re.match(r"\s*[\w.>\-\[\]]+(\.|->)?\w*\(.*\);$", plain) or re.match(r"\s*[\w.\->\[\]]+ ?[|&+]?= .*;$", plain):
        yield "", following
    for found in re.finditer(r" (&&|\|\|) [^&|(){};,?:]+(?=\)|;| &&| \|\|)", plain):  # the second of two conditions goes
        yield line[:found.start()] + line[found.end():], following
    if TERM.fullmatch(plain.strip()):
        yield "", following
        if TERM.fullmatch(_strings_hidden(following).strip()):
            yield following, line


def of_file(name, text):
    """Every mutant, in the order of lines."""
    lines = text.split("\n")
    seen = set()
    for at, line in enumerate(lines):
        if re.match(r"\s*(//|#|$|using |template|namespace|}|static_assert|(struct|class|enum) )", line):
            continue
        following = lines[at + 1] if at + 1 < len(lines) else ""
        for after, after_following in _changes(line, following):
            key = (at, after, after_following)
            if after == line or key in seen:
                continue
            seen.add(key)
            changed = [*lines[:at], after, after_following, *lines[at + 2:]]
            swapped = after_following != following
            yield Mutant(name, at + 1, line + (" …" if swapped else ""), after + (" (swapped)" if swapped else ""), "\n".join(changed))
