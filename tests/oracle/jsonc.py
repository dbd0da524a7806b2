"""JSON with comments, and where each value stands (docs/formats/files.md, "General rules").

The documents are taken to be right: what is wrong in them is not this program's business.
"""
import json
import pathlib


class Document:
    """The value of a file, and line and column of each value by its JSON pointer."""

    def __init__(self, path):
        self.path = str(path)
        self.text = pathlib.Path(path).read_text(encoding="utf-8")
        self.at = 0
        self.places = {}
        self.value = self._value("")

    def where(self, pointer):
        line, column = self.places[pointer]
        return {"file": self.path, "line": line, "column": column, "pointer": pointer}

    def _skip(self):
        while True:
            while self.text[self.at:self.at + 1] in (" ", "\t", "\r", "\n") and self.at < len(self.text):
                self.at += 1
            if self.text.startswith("//", self.at):
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif self.text.startswith("/*", self.at):
                self.at = self.text.index("*/", self.at + 2) + 2
            else:
                return

    def _take(self, mark):
        self._skip()
        if not self.text.startswith(mark, self.at):
            return False
        self.at += len(mark)
        return True

    def _value(self, pointer):
        self._skip()
        before = self.text[:self.at]
        self.places[pointer] = (before.count("\n") + 1, self.at - (before.rfind("\n") + 1) + 1)
        if self._take("{"):
            return self._object(pointer)
        if self._take("["):
            return self._array(pointer)
        value, self.at = json.JSONDecoder().raw_decode(self.text, self.at)
        return value

    def _object(self, pointer):
        found = {}
        while not self._take("}"):
            self._skip()
            key, self.at = json.JSONDecoder().raw_decode(self.text, self.at)
            self._take(":")
            found[key] = self._value(f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
            self._take(",")
        return found

    def _array(self, pointer):
        found = []
        while not self._take("]"):
            found.append(self._value(f"{pointer}/{len(found)}"))
            self._take(",")
        return found


def canonical(value):
    """The bytes whose sha256 is a key: keys sorted, no blanks, UTF-8 (docs/formats/files.md, "Keys")."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
