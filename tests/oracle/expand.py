"""From a matrix to cells: what is asked for, and what is not and why (docs/formats/matrix.md)."""
import itertools

from components import parse
from globs import matches
from recipes import KINDS
from versions import compare, contains, is_version

_ID_ORDER = ["framework", "version", "method", "library", "compiler", "distributed", "runtime", "workload", "toolchain", "optimise", "target", "base"]


class Cell:
    """One combination of the axes."""

    def __init__(self, axes, where):
        self.axes, self.where = axes, where
        self.reason, self.why = "", None  # why it is excluded, and where that is written

    def get(self, axis):
        return self.axes.get(axis, "none")

    @property
    def choice(self):
        """Equal cells are one: an axis without a value is no choice."""
        return frozenset((axis, value) for axis, value in self.axes.items() if value != "none")

    def exclude(self, reason, where):
        self.reason, self.why = reason, where

    @property
    def id(self):
        words = [self.axes[axis] for axis in _ID_ORDER if self.get(axis) != "none"]
        return "".join(mark if mark.isalnum() or mark in "._+-" else "_" for mark in "-".join(words)) or "none"


class Expansion:
    """The cells in their order; those of `excluded`, in the same order, have a reason."""

    def __init__(self, matrix, recipes):
        self.recipes = recipes
        self.cells, self.excluded, self.warnings = [], [], []
        hit = [False] * len(matrix.constraints)
        for group in matrix.groups:
            cells = self._cells_of(group)
            left_out = [cell for cell in cells if cell.reason]
            left = [cell for cell in cells if not cell.reason]
            self._constrain(matrix.constraints, left, hit)
            self.excluded += left_out + [cell for cell in left if cell.reason]
            self.cells += [cell for cell in left if not cell.reason]
        for entry, found in zip(matrix.constraints, hit):
            if not found:
                self._warn(entry.where, "the condition of this constraint matches no cell")
        wanted = {}
        for cell in self.cells:
            wanted.setdefault(cell.choice, cell)  # equal cells are one: the first
        self.cells = list(wanted.values())
        self.excluded = [cell for cell in self.excluded if cell.choice not in wanted]

    def _cells_of(self, group):
        """First exclude, then include, which may bring a cell back. Those that a version makes impossible come first."""
        product = self._product(group)
        impossible = [cell for cell in product if cell.reason]
        originals = [cell for cell in product if not cell.reason]
        for entry in group.exclude:
            self._exclude(entry, originals)
        kept = [cell for cell in originals if not cell.reason]
        added = []
        before = [dict(cell.axes) for cell in kept]
        for entry in group.include:
            self._include(entry, group, kept, before, added)
        return impossible + originals + added

    def _product(self, group):
        """Every combination, the first axis slowest."""
        axes = dict(group.axes)
        named, of_ranges = [], []
        if "version" in axes:
            named, of_ranges = self._versions(group)
            axes["version"] = of_ranges
        cells = [Cell(dict(zip(axes, values)), group.where) for values in itertools.product(*axes.values())]
        return [cell for cell in cells if self._is_possible(cell, named)]

    def _versions(self, group):
        """What is on the axis: versions by the first recipe's name for them, and for a range those of all frameworks, newest first.

        First those that are named, then all, each once."""
        frameworks = [self.recipes["framework", parse(value)[0].name] for value in group.axes.get("framework", []) if value != "none"]
        named, all_of_them = [], []
        for written in group.axes["version"]:
            if written == "none" or is_version(written):
                own = [one for recipe in frameworks for one in recipe.versions if written != "none" and compare(one, written) == 0]
                found = [(own or [written])[0]]
                named += found
            else:
                found = [one for recipe in frameworks for one in recipe.versions if contains(written, one)]
                if not found:
                    self._warn(group.version_where, f"no framework has a version in '{written}'")
            all_of_them += [one for one in dict.fromkeys(found) if one not in all_of_them]
        return named, all_of_them

    def _is_possible(self, cell, named):
        """The version must be the framework's, and the one that the framework's value names. False: nobody asked for that cell by name."""
        if cell.get("version") == "none" or "framework" not in cell.axes or self._has_version(cell):
            return True
        framework, version = cell.get("framework"), cell.get("version")
        cell.exclude(f"version {version} without a framework" if framework == "none" else f"{framework} has no version {version}", cell.where)
        return version in named

    def _has_version(self, cell):
        for value in parse(cell.get("framework")):
            known = any(compare(one, cell.get("version")) == 0 for one in self.recipes["framework", value.name].versions)
            if known and (value.version is None or compare(value.version, cell.get("version")) == 0):
                return True
        return False

    def _framework(self, axes):
        chosen = parse(axes.get("framework", "none"))
        return self.recipes.get(("framework", chosen[0].name)) if chosen else None

    def _exclude(self, entry, cells):
        pattern = {axis: value for axis, value in entry.value.items() if axis != "reason"}
        where = entry.where
        hit = [cell for cell in cells if self._agrees(pattern, cell)]
        for cell in hit:
            if not cell.reason:
                cell.exclude(entry.value.get("reason", f"exclude at {where['file']}:{where['line']}:{where['column']}"), where)
        if not hit:
            self._warn(where, "this exclude matches no cell")

    def _warn(self, where, text):
        self.warnings.append(f"{where['file']}:{where['line']}:{where['column']}: {text}")

    def _include(self, entry, group, kept, before, added):
        extended = False
        for cell, original in zip(kept, before):
            if any(axis in group.axes and not self._same(axis, value, original) for axis, value in entry.value.items()):
                continue
            extended = True
            cell.axes.update({axis: value for axis, value in entry.value.items() if axis not in group.axes})
        if not extended:
            added += [Cell(axes, entry.where) for axes in self._with_version(entry)]

    def _with_version(self, entry):
        """An include's own cells: more than one where it has a range."""
        written = entry.value.get("version", "none")
        if written == "none" or is_version(written):
            return [entry.value]
        recipe = self._framework(entry.value)
        found = [one for one in recipe.versions if contains(written, one)] if recipe else []
        if not found:
            self._warn(entry.where, f"no framework has a version in '{written}'")
        return [{**entry.value, "version": version} for version in found]

    def _same(self, axis, value, axes):
        if axis == "version" and axes.get(axis, "none") != "none":
            return compare(value, axes[axis]) == 0 if is_version(value) else contains(value, axes[axis])
        return axes.get(axis, "none") == value

    def _constrain(self, constraints, cells, hit):
        """Of the constraints that a cell breaks the first is its reason. `hit`: whose condition any cell met."""
        for cell in cells:
            for index, entry in enumerate(constraints):
                if not self._agrees(entry.value["if"], cell):
                    continue
                hit[index] = True
                if "require" in entry.value:
                    broken = not self._agrees(entry.value["require"], cell)
                else:
                    broken = self._agrees(entry.value["forbid"], cell)
                if broken and not cell.reason:
                    cell.exclude(entry.value["reason"], entry.where)

    def _agrees(self, pattern, cell):
        return all(self._agrees_on(axis, value, cell) for axis, value in pattern.items())

    def _agrees_on(self, axis, pattern, cell):
        if "." in axis:
            kind, fact = axis.split(".", 1)
            return any(self._is_fact(pattern, value) for value in self._facts(kind, fact, cell))
        if axis == "version":
            if pattern == "none":
                return cell.get("version") == "none"
            version = self._version_of(cell)
            return version is not None and contains(pattern, version)
        value = cell.get(axis)
        if matches(pattern, value):
            return True
        if axis not in KINDS:
            return False
        for one in parse(value):
            if matches(pattern, one.written) or ("@" not in pattern and ":" not in pattern and matches(pattern, one.name)):
                return True
        return False

    def _version_of(self, cell):
        if cell.get("version") != "none":
            return cell.get("version")
        recipe = self._framework(cell.axes)
        if recipe is None:
            return None
        return parse(cell.get("framework"))[0].version or recipe.versions[0]

    def _facts(self, kind, fact, cell):
        for one in parse(cell.get(kind)):
            recipe = self.recipes[kind, one.name]
            version = one.version
            if kind == "framework":
                version = self._version_of(cell)
            own = [known for known in recipe.versions if version is None or compare(known, version) == 0]
            if own and fact in recipe.facts(own[0]):
                yield recipe.facts(own[0])[fact]

    @staticmethod
    def _is_fact(pattern, value):
        """Versions where the pattern is a bound or begins with a digit, else text; only what begins with a digit is in a range."""
        if any(mark in pattern for mark in "<>=!") or pattern[:1].isdigit() and "*" not in pattern:
            return value[:1].isdigit() and contains(pattern, value)
        return matches(pattern, value)

