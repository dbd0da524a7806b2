"""Reads the language of a Markdown page, of the string literals of a C++ source, and of the comments of a C++ header, block by block."""
import re

ABBREVIATIONS = {"e.g", "i.e", "vs", "cf", "etc", "approx"}

GENERATED = re.compile(r"^<!-- (?:figures|generated):[^\n>]* -->\n.*?^<!-- end -->$", re.S | re.M)
GENERATED_VALUE = re.compile(r"<!-- figures:[^\n>]* -->[^\n]*?<!-- end -->")
FENCE = re.compile(r"^ *(```+|~~~+)[^\n]*\n.*?(?:^ *\1[ \t]*$|\Z)", re.S | re.M)
COMMENT_OR_CODE = re.compile(r"<!--(?s:.*?)-->|(?<!`)(?P<ticks>`+)(?!`)(?:[^\n]|\n(?!\s*\n))+?(?<!`)(?P=ticks)(?!`)")
LINK_TARGET = re.compile(r"(?<=\])(?:\((?:[^()\n]|\([^()\n]*\))*\)|\[[^\]\n]*\])")
ADDRESS = re.compile(r"<?https?://[^\s>|)]+>?")
TAG = re.compile(r"</?[A-Za-z][^<>\n]*>")
MARKUP = re.compile(r"!?\[|\]|\*|(?<!\w)_+|_+(?!\w)")
ITEM = re.compile(r" *(?:[-*+]|\d+[.)]) +")
SENTENCE_END = re.compile(r"[.!?][\"'”’)]*(?=\s|\Z)")


def blank(found):
    """The newlines alone, so that each line keeps its number."""
    return "\n" * found[0].count("\n")


def one_word(found):
    return "x" + blank(found)


def without_code_blocks(text):
    """Without the blocks that are indented by four columns; in a list, by four more than the text of the item."""
    lines, indent, after_text, after_code = [], 0, False, False
    for line in text.split("\n"):
        columns = len(line) - len(line.lstrip(" "))
        item = ITEM.match(line)
        if not line.strip():
            after_text = False
        elif not after_text and columns >= 4 and (after_code or columns >= indent + 4):
            line, after_code = "", True
        else:
            indent = len(item[0]) if item else min(indent, columns)
            after_text, after_code = not line.startswith("#"), False
        lines.append(line)
    return "\n".join(lines)


class Block:
    """A paragraph, an item of a list, a heading or a cell of a table, with its first line from 1."""

    def __init__(self, kind, line, text):
        self.kind, self.line, self.text = kind, line, text

    def line_of(self, place):
        return self.line + self.text.count("\n", 0, place)

    def sentences(self):
        """(place, text) of each. A cell's fragment without a full stop is no sentence."""
        begin = 0
        for end in SENTENCE_END.finditer(self.text):
            before = self.text[begin:end.start()].split()
            if before and end[0] == "." and before[-1].lower().strip("(\"“") in ABBREVIATIONS:
                continue
            yield self.trimmed(begin, end.end())
            begin = end.end()
        if self.kind == "text" and self.text[begin:].strip():
            yield self.trimmed(begin, len(self.text))

    def trimmed(self, begin, end):
        part = self.text[begin:end]
        return begin + len(part) - len(part.lstrip()), part.strip()


def blocks_of(text):
    """The page's language, block by block."""
    text = GENERATED.sub(blank, FENCE.sub(blank, text))
    text = without_code_blocks(GENERATED_VALUE.sub(one_word, text))
    text = COMMENT_OR_CODE.sub(lambda found: one_word(found) if found["ticks"] else blank(found), text)
    text = TAG.sub(" ", ADDRESS.sub(one_word, LINK_TARGET.sub(blank, text)))
    block = None
    for number, line in enumerate(MARKUP.sub("", text).split("\n"), 1):
        line = re.sub(r"^ *(> ?)+", "", line)
        item = ITEM.match(line)
        is_row, is_heading = line.lstrip().startswith("|"), line.startswith("#")
        if block and (is_row or is_heading or item or not line.strip()):
            yield block
            block = None
        if is_row:
            yield from (Block("cell", number, cell) for cell in re.split(r"(?<!\\)\|", line))
        elif is_heading:
            yield Block("heading", number, line.lstrip("# "))
        elif block:
            block.text += "\n" + line.strip()
        elif line.strip():
            block = Block("text", number, line[item.end():] if item else line)
    if block:
        yield block


# C++: comments and literals. A quote inside a number separates digits.
TOKEN = re.compile(r"""(?P<comment>//[^\n]*)|/\*(?P<block>.*?)\*/|R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"|"(?P<string>(?:\\.|[^"\\\n])*)"|(?<!\w)'(?:\\.|[^'\\\n])+'""", re.S)
ESCAPES = {"t": " ", '"': '"', "'": "'", "\\": "\\"}
FIELD = re.compile(r"\{[^{}]*\}")  # of {fmt}
LITERAL_WORDS = 4  # a shorter literal is a name, a key or a part of a sentence
BLANKS = re.compile(r"\n[ \t]+")  # before the further lines of a comment
STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|WITH|PRAGMA|DROP|ALTER)\b")  # SQL


def is_words(text):
    return len(re.findall(r"[A-Za-z]{2,}", FIELD.sub("x", text))) >= LITERAL_WORDS and not STATEMENT.match(text)


def literals_of(text):
    """(first line, text) of each sequence of literals that the compiler joins, and of each line in it. Newlines of the source stay."""
    parts, line, after = [], 0, None  # the texts so far, the current line, the end of the last literal
    for found in TOKEN.finditer(text):
        if found["string"] is None:
            continue
        here = text.count("\n", 0, found.start()) + 1
        if after is not None and not text[after:found.start()].strip():
            parts[-1][1] += "\n" * (here - line)
        elif not text[text.rfind("\n", 0, found.start()) + 1:found.start()].lstrip().startswith("#include"):
            yield from ((first, joined) for first, joined in parts)
            parts = [[here, ""]]
        else:
            continue
        line, after = here, found.end()
        first, *lines = re.split(r"(?<!\\)\\n", found["string"])
        parts[-1][1] += first
        parts += [[here, one] for one in lines]
    yield from ((first, joined) for first, joined in parts)


def literal_blocks(text):
    for line, joined in literals_of(text):
        if is_words(joined):
            words = re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], " "), joined)
            words = COMMENT_OR_CODE.sub("x", FIELD.sub("x", words))
            yield Block("text", line, TAG.sub(" ", ADDRESS.sub("x", words)))


def comments_of(text):
    """(first line, text) of each comment: of `//` in lines that follow each other, in one column; of C's form."""
    lines = text.split("\n")
    first, column, bodies = 0, 0, []
    for found in TOKEN.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        if found["block"] is not None:
            yield line, re.sub(r"(?m)^[ \t]*\*? ?", "", found["block"]) if " * " in found["block"] else BLANKS.sub("\n", found["block"])
        if not found["comment"]:
            continue
        before = lines[line - 1][:found.start() - text.rfind("\n", 0, found.start()) - 1]
        if not bodies or line != first + len(bodies) or len(before) != column or before.strip():
            if bodies:
                yield first, "\n".join(bodies)
            first, column, bodies = line, len(before), []
        bodies.append(found[0][2:].removeprefix(" "))
    if bodies:
        yield first, "\n".join(bodies)


def comment_blocks(text):
    for first, comment in comments_of(text):
        for block in blocks_of(comment):
            block.line += first - 1
            yield block
