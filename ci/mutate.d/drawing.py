"""Which mutants there are: universalmutator's rules for any language, C and C++, less what says nothing about tests."""
import contextlib
import dataclasses
import io
import os
import random
import re

from universalmutator import mutator

RULES = ["universal.rules", "c_like.rules", "cpp.rules"]

# Rules that are not taken, by their left and right side.
INSERTS = {r"\1\2\n\1break;\n", r"\1\2\n\1continue;\n"}  # they add a statement; nothing that is there is changed
TEXTS = {'".+"'}                                         # words for people; formats are held by golden files

# Their operators stand between spaces (clang-format sees to it). Without them the same characters are a template's brackets,
# a pointer, a reference or a sign.
BINARY = {r"\+", r"-([^>])", r"\*", r"([^\*/])/([^\*/])", "%", "!=", "==", ">=", "<=", "<", "([^-])>", "&&", r"\|\|",
          "([^&])&([^&])", r"([^|])\|([^|])", r"\+=", "-="}
NUMBER = r"(\D)(\d+)(\D)"
# Whole words only: `at` is not a part of `format`.
WORD = {"min", "max", "begin", "end", "else", "while", "any_of", "all_of", "none_of", r"at(\(.*\))"}

OPERATOR = re.compile(r"[-+*/%<>=!&|]+")
# Lines that declare a name or a type: removing one does not compile, or changes nothing.
DECLARATION = re.compile(r"\s*(#|using\b|namespace\b|template\b|struct\b|class\b|enum\b|static_assert\b|\}|public:|private:)")


@dataclasses.dataclass(frozen=True, order=True)
class Mutant:
    """One changed line. `before` and `after` are whole lines, without the line's end."""
    file: str
    line: int
    after: str
    before: str
    rule: str


# What code_mask() tells: a character in quotes is a constant like a number.
TEXT, CODE, CHARACTER = 0, 1, 2


def code_mask(text):
    """For each character of a C++ file whether it is code: not in a comment, a string's text or a preprocessor line."""
    mask = bytearray([CODE]) * len(text)
    token = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|'
                       r"(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'|^[ \t]*#[^\n]*", re.S | re.M)
    for found in token.finditer(text):
        kind = CHARACTER if found.group().startswith("'") else TEXT
        mask[found.start():found.end()] = bytes([kind]) * len(found.group())
    return mask


def place_of(before, after, rule):
    """The match of the rule that made `after`: the mutator does not say where it was."""
    left, right = rule
    match = left.search(before)
    while match:
        if before[:match.start()] + left.sub(right, before[match.start():], count=1) == after:
            return match
        match = left.search(before, match.start() + 1)
    return None


def changed_part(before, after):
    """Where the part of `before` begins and ends that is another in `after`."""
    start = len(os.path.commonprefix([before, after]))
    same_end = len(os.path.commonprefix([before[start:][::-1], after[start:][::-1]]))
    return start, len(before) - same_end


def open_brackets(text):
    """How many brackets of each kind a line opens and does not close; strings and comments aside."""
    code = re.sub(r'"(?:\\.|[^"\\])*"|/\*.*?\*/|//.*', "", text)
    return [code.count(pair[0]) - code.count(pair[1]) for pair in ("()", "[]", "{}")]


def is_word_part(text):
    return bool(re.fullmatch(r"\w", text))


def taken(before, after, rule, mask):
    """Whether a mutant of the line is one of ours; `mask` is the line's part of code_mask()."""
    pattern, replacement = rule[0].pattern, rule[1]
    if replacement in INSERTS or pattern in TEXTS or DECLARATION.match(before):
        return False
    match = place_of(before, after, rule)
    start, end = changed_part(before, after)
    if match is None or not any(mask[start:end + 1]) or open_brackets(before) != open_brackets(after):
        return False
    if pattern in BINARY:
        operator = OPERATOR.search(before, match.start())
        start = operator.start()
        return before[start - 1:start] == " " and before[operator.end():operator.end() + 1] in (" ", "\n") and bool(mask[start])
    if pattern == NUMBER:
        around = before[:match.start(2)][-2:], before[match.end(2):][:2]
        is_part = is_word_part(match.group(1)) or re.fullmatch(r"\d'", around[0]) or re.fullmatch(r"'\d", around[1])
        return bool(mask[match.start(2)]) and not is_part  # of a name, or of 10'000
    if pattern in WORD:
        return bool(mask[match.start()]) and not is_word_part(before[match.start() - 1:match.start()]) \
            and not is_word_part(before[match.end():match.end() + 1])
    return True


def mutants_of(root, file):
    """Every mutant of a file that is taken, in the mutator's order."""
    text = (root / file).read_text()
    lines = text.splitlines(keepends=True)
    mask = code_mask(text)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    with contextlib.redirect_stdout(io.StringIO()):
        made = mutator.mutants_regexp(lines, ruleFiles=RULES, ignorePatterns=[])
    found = []
    for number, after, (rule_text, _), rule in made:
        before = lines[number - 1]
        if taken(before, after, rule, mask[starts[number - 1]:starts[number]]):
            found.append(Mutant(file, number, after.rstrip("\n"), before.rstrip("\n"), rule_text.strip()))
    return found


def drawn(root, files, seed):
    """All mutants of the files in an order that depends on the seed, the files' names and their contents only."""
    mutants = sorted({mutant for file in files for mutant in mutants_of(root, file)})
    random.Random(int(seed, 16)).shuffle(mutants)
    return mutants
