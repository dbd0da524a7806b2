"""Recipes and targets as they are written (docs/formats/recipe.md)."""
import hashlib
import pathlib

from globs import matches
from jsonc import Document
from versions import contains, newest_first

KINDS = ["base", "toolchain", "library", "framework", "compiler", "distributed", "runtime", "workload"]  # in layering order


class Recipe:
    """One component: what its recipe says of all its versions and methods."""

    def __init__(self, folder, folders):
        self.folder = pathlib.Path(folder)
        self.kind, self.name = self.folder.parent.name, self.folder.name
        written = Document(self.folder / "recipe.json").value
        self.places = {}  # of shared files, by the name that scripts find them under
        self.note_shared(written, folders)
        self.written = written
        self.versions = newest_first(written["versions"])
        self.methods = written["methods"]
        tests = written.get("test", [])
        self.tests = [tests] if isinstance(tests, dict) else tests
        self.role = written.get("role", "")
        self.accept = written.get("accept", [])

    def accepted(self, version, method):
        """The files that may have code beyond the target, in this version by this method."""
        return [{"file": one["file"], "reason": one["reason"]} for one in self.accept
                if one.get("method", method) == method and contains(one.get("versions", "*"), version)]

    def note_shared(self, written, folders):
        """Replaces "shared:<path>", wherever it stands, by the name that scripts find the file under."""
        for key, value in list(written.items() if isinstance(written, dict) else enumerate(written)):
            if isinstance(value, (dict, list)):
                self.note_shared(value, folders)
            elif isinstance(value, str) and value.startswith("shared:"):
                path = value.removeprefix("shared:")
                written[key] = path.rpartition("/")[2]
                self.places[written[key]] = [place for folder in folders if (place := pathlib.Path(folder) / "shared" / path).is_file()][-1]

    @property
    def path(self):
        return f"{self.kind}/{self.name}"

    def facts(self, version):
        return self.written["versions"][version].get("facts", {})

    def source(self, version):
        return self.written["versions"][version].get("source", {})

    def build_on(self, version):
        """The version that build stages stand on, None for the same."""
        return self.written["versions"][version].get("build_on")

    def methods_of(self, version):
        """The methods that this version offers, the default first."""
        return [name for name, method in self.methods.items() if contains(method.get("versions", "*"), version)]

    def digest(self, file):
        return "sha256:" + hashlib.sha256(self.places.get(file, self.folder / file).read_bytes()).hexdigest()


def read_recipes(folders):
    """(kind, name) → Recipe; of two folders with one component the later wins."""
    found = {}
    for folder in folders:
        for file in sorted(pathlib.Path(folder).glob("*/*/recipe.json")):
            recipe = Recipe(file.parent, folders)
            found[recipe.kind, recipe.name] = recipe
    return found


class Target:
    """A processor with accelerators (docs/formats/targets.md, "Target files")."""

    def __init__(self, name, folder):
        self.name, self.description = name, ""
        file = pathlib.Path(folder) / f"{name}.json"
        if file.is_file():
            written = Document(file).value
            self.cpu = written["cpu"]
            self.accelerators = written.get("accelerators", [])
            self.description = written.get("description", "")
        else:
            self.cpu, *self.accelerators = name.split(",")

    def matches(self, pattern):
        """By its name, or by what it is."""
        return matches(pattern, self.name) or matches(pattern, ",".join([self.cpu, *self.accelerators]))


def is_in(components, named):
    """Whether one of the (recipe, version) is "kind/name", or "kind/name@range" in such a version."""
    path, _, range = named.partition("@")
    return any(recipe.path == path and contains(range or "*", version) for recipe, version in components)


def holds(when, version, target):
    """Whether a need or a test with this `when` is for this version of its component and this target."""
    return contains(when.get("version", "*"), version) and ("target" not in when or target.matches(when["target"]))
