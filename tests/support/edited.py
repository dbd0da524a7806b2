"""Edits of test inputs that cannot be a no-op: a text that is not there ends the test.

  from edited import edit; edit("recipe.json", ("old", "new"), …)   with PYTHONPATH=$KILN_SOURCE/tests/support
"""
import pathlib
import sys


def replaced(text, old, new, where="the text"):
    """`text` with its first `old` replaced."""
    if old not in text:
        sys.exit(f"FAILED: {where} does not hold what the test replaces: {old}")
    return text.replace(old, new, 1)


def edit(path, *replacements):
    """Replaces in a file, once each, in this order."""
    path = pathlib.Path(path)
    text = path.read_text()
    for old, new in replacements:
        text = replaced(text, old, new, path)
    path.write_text(text)
