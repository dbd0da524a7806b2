"""Patterns of `*` and `?`, and nothing else (docs/formats/matrix.md, "Cell patterns")."""
import re


def matches(pattern, text):
    translated = "".join({"*": ".*", "?": "."}.get(mark, re.escape(mark)) for mark in pattern)
    return re.fullmatch(translated, text, re.DOTALL) is not None
