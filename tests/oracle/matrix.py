"""A catalogue with the catalogues that it includes (docs/formats/matrix.md)."""
import os

from jsonc import Document


class Entry:
    """A piece of a matrix file: its value and where it stands."""

    def __init__(self, document, pointer, value):
        self.document, self.pointer, self.value = document, pointer, value

    @property
    def where(self):
        return self.document.where(self.pointer)

    def at(self, key):
        return Entry(self.document, f"{self.pointer}/{key}", self.value[key])

    def entries(self, key):
        return [Entry(self.document, f"{self.pointer}/{key}/{index}", one) for index, one in enumerate(self.value.get(key, []))]


class Group:
    """Axes with their own exclude and include."""

    def __init__(self, entry):
        self.axes = {name: values if isinstance(values, list) else [values] for name, values in entry.value["axes"].items()}
        axes = entry.at("axes")
        self.where = axes.at("framework" if "framework" in self.axes else next(iter(self.axes))).where
        self.version_where = axes.at("version").where if "version" in self.axes else None
        self.exclude = entry.entries("exclude")
        self.include = entry.entries("include")


class Matrix:
    """All groups and constraints: those of the included files first, in their order, each file once."""

    def __init__(self, file):
        self.groups, self.constraints = [], []
        self._seen = set()
        self._read(str(file))
        self.name = Document(file).value["name"]

    def _read(self, file):
        if os.path.realpath(file) in self._seen:
            return
        self._seen.add(os.path.realpath(file))
        document = Document(file)
        root = Entry(document, "", document.value)
        for other in document.value.get("includes", []):
            self._read(os.path.normpath(os.path.join(os.path.dirname(file), other)))
        self.groups += [Group(one) for one in root.entries("groups")]
        if "axes" in document.value:
            self.groups.append(Group(root))
        self.constraints += root.entries("constraints")
