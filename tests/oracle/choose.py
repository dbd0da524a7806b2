"""The components of an image: what the cell names and what those need (docs/formats/recipe.md, "Needs")."""
from components import parse
from recipes import KINDS, holds
from versions import compare, contains


class Excluded(Exception):
    """This combination cannot be; the reason."""


class Wrong(Exception):
    """A recipe or matrix is wrong: exit code 3."""


class Chosen:
    """A recipe with its version and method fixed."""

    def __init__(self, recipe, version, method_name, written=""):
        self.recipe, self.version, self.method_name, self.written = recipe, version, method_name, written
        self.automatic = written == ""
        self.method = recipe.methods[method_name]
        self.needs = self.method.get("needs", [])
        self.build = self.method.get("build")
        self.facts = recipe.facts(version)

    def in_version(self, version):
        other = Chosen(self.recipe, version, self.method_name, self.written)
        other.automatic = self.automatic
        return other

    @property
    def identity(self):
        return (self.recipe.path, self.version, self.method_name)

    def meets(self, need):
        wanted = (need["kind"], need["name"])
        return (self.recipe.kind, self.recipe.name) == wanted and contains(need.get("version", "*"), self.version)


class Requirement:
    """A need that holds: its options (a plain need is its own only one), and who has it."""

    def __init__(self, need, options, needer):
        self.need, self.options, self.needer = need, options, needer
        self.alternatives = "any" in need


def requirements(needs, chosen, target):
    found = []
    for need in needs:
        if not holds(need.get("when", {}), chosen.version, target):
            continue
        options = [one for one in need.get("any", [need]) if holds(one.get("when", {}), chosen.version, target)]
        if options:
            found.append(Requirement(need, options, chosen.recipe.name))
    return found


def met_option(requirement, image, named):
    """The first option that a component of the image meets, or one that the cell names where `named`."""
    for option in requirement.options:
        for chosen in image:
            if not (named and chosen.automatic) and chosen.meets(option):
                return option
    return None


def met_by(requirement, image):
    option = met_option(requirement, image, True) or met_option(requirement, image, False)
    return None if option is None else next(chosen for chosen in image if chosen.meets(option))


def describe(need):
    text = f"{need['kind']} {need['name']}"
    return text if need.get("version", "*") == "*" else f"{text} {need['version']}"


def named_components(cell, recipes):
    """What the cell names, in the order of the kinds."""
    found = []
    for kind in KINDS:
        for value in parse(cell.get(kind)):
            recipe = recipes[kind, value.name]
            version = _version_named(cell, recipe, value)
            found.append(Chosen(recipe, version, _method_named(cell, recipe, version, value), value.written))
    return found


def _version_named(cell, recipe, value):
    """What the value says, for a framework else the cell's axis `version`, else the newest."""
    of_cell = cell.get("version") if recipe.kind == "framework" and cell.get("version") != "none" else None
    wanted = value.version or of_cell
    if wanted is None:
        return recipe.versions[0]
    found = [own for own in recipe.versions if compare(own, wanted) == 0]
    if not found or of_cell is not None and compare(found[0], of_cell) != 0:
        raise Wrong(f"{recipe.path} has no version {wanted}, or {of_cell} contradicts it")
    return found[0]


def _method_named(cell, recipe, version, value):
    """What the value says, else the cell's where the component offers it, else its first; a framework has the cell's or none."""
    offered = recipe.methods_of(version)
    wanted = value.method or (cell.get("method") if cell.get("method") != "none" else None)
    must = value.method is not None or recipe.kind == "framework" and wanted is not None
    if not offered or must and wanted not in offered:
        has = ", ".join(offered) or "none"
        raise Excluded(f"{recipe.name} {version} has no method {wanted or 'at all'}; it has {has}")
    return wanted if wanted in offered else offered[0]


class Solver:
    """Adds what is needed. `preferred` is taken where it fits: a build stage takes what the image has."""

    def __init__(self, recipes, target, cell_method, preferred=()):
        self.recipes, self.target, self.cell_method, self.preferred = recipes, target, cell_method, list(preferred)
        self.branches = 0

    def complete(self, fixed, needed=()):
        return self._search(list(fixed), list(needed), {}, {})

    def _search(self, fixed, needed, decisions, known):
        """`decisions`: which option of alternatives was taken. `known`: (kind, name) → the plain needs of it met so far."""
        known = {component: list(wants) for component, wants in known.items()}
        while True:
            attempt = _Attempt(self, fixed, decisions, known)
            if not attempt.run(needed):
                continue  # what was added is too new for a need found later: once more, with that need known
            if not attempt.open:
                _refuse_equal_roles(attempt.image)
                return attempt.image
            return self._branch(attempt.open[0], fixed, needed, decisions, known)

    def _branch(self, undecided, fixed, needed, decisions, known):
        reasons = []
        for option in undecided.options:
            self.branches += 1
            if self.branches > 1000:
                raise Wrong("more than 1000 combinations of alternatives were tried")
            try:
                return self._search(fixed, needed, {**decisions, id(undecided.need): option}, known)
            except Excluded as excluded:
                reasons.append(str(excluded))
        options = " or ".join(describe(option) for option in undecided.options)
        raise Excluded(f"{undecided.needer} needs {options}: {'; '.join(reasons)}")


def _refuse_equal_roles(image):
    """An image has at most one component of a role."""
    taken = {}
    for chosen in image:
        role, name = chosen.recipe.role, chosen.recipe.name
        if role in taken:
            raise Excluded(f"{taken[role]} and {name} have the same role: {role}")
        if role:
            taken[role] = name


class _Attempt:
    """One go at meeting all needs in the order in which they are found; alternatives wait until nothing else is left."""

    def __init__(self, solver, fixed, decisions, known):
        self.solver, self.fixed, self.decisions, self.known = solver, fixed, decisions, known
        self.image, self.plain, self.open = list(fixed), [], []

    def run(self, needed):
        """False: begin again, more is known."""
        for requirement in needed:
            self._add(requirement)
        for chosen in self.fixed:
            self._add_needs_of(chosen)
        while True:
            while self.plain:
                if not self._meet(*self.plain.pop(0)):
                    return False
            if not self._take_what_is_there():
                return True

    def _add_needs_of(self, chosen):
        for requirement in requirements(chosen.needs, chosen, self.solver.target):
            self._add(requirement)

    def _add(self, requirement):
        if not requirement.alternatives:
            self.plain.append((requirement.need, requirement.needer))
        elif id(requirement.need) in self.decisions:
            self.plain.append((self.decisions[id(requirement.need)], requirement.needer))
        else:
            self.open.append(requirement)

    def _take_what_is_there(self):
        for requirement in self.open:
            for named in (True, False):
                for image in (self.image, self.solver.preferred):
                    option = met_option(requirement, image, named)
                    if option is not None:
                        self.open.remove(requirement)
                        self.plain.append((option, requirement.needer))
                        return True
        return False

    def _meet(self, need, needer):
        wants = self.known.setdefault((need["kind"], need["name"]), [])
        if not any(other is need for other, _ in wants):
            wants.append((need, needer))
        for index, chosen in enumerate(self.image):
            if (chosen.recipe.kind, chosen.recipe.name) != (need["kind"], need["name"]):
                continue
            if chosen.meets(need):
                return True
            if index >= len(self.fixed):
                return False
            raise Excluded(f"{needer} needs {describe(need)}; the cell has {need['name']} {chosen.version}")
        if need["kind"] in ("base", "framework"):
            self._refuse_another(need, needer)
        added = self._pick(need, wants)
        self.image.append(added)
        self._add_needs_of(added)
        return True

    def _refuse_another(self, need, needer):
        """Bases and frameworks are the cell's to choose."""
        has = "none"
        for chosen in self.image + self.solver.preferred:
            if chosen.recipe.kind != need["kind"]:
                continue
            if chosen.meets(need):
                return
            has = f"{chosen.recipe.name} {chosen.version}"
        raise Excluded(f"{needer} needs {describe(need)}; the cell has {has}")

    def _pick(self, need, wants):
        """The newest version that fits everyone, or what the image has where that does."""
        ranges = [other.get("version", "*") for other, _ in wants]
        for chosen in self.solver.preferred:
            if (chosen.recipe.kind, chosen.recipe.name) == (need["kind"], need["name"]) and all(contains(one, chosen.version) for one in ranges):
                return chosen
        recipe = self.solver.recipes[need["kind"], need["name"]]
        for version in recipe.versions:
            offered = recipe.methods_of(version)
            if offered and all(contains(one, version) for one in ranges):
                return Chosen(recipe, version, self.solver.cell_method if self.solver.cell_method in offered else offered[0])
        wishes = ", ".join(f"{who} needs {other.get('version', '*')}" for other, who in wants)
        raise Excluded(f"no version of {recipe.path} fits: {wishes}")


def layered(image, target):
    """The order in which components are laid (docs/formats/recipe.md, "Layering")."""
    needs = {id(chosen): [met_by(one, image) for one in requirements(chosen.needs, chosen, target)] for chosen in image}
    needs = {key: [other for other in others if other is not None] for key, others in needs.items()}
    done, path = [], []

    def rank(chosen):
        late = chosen.automatic and chosen.recipe.kind != "base"
        return late, KINDS.index(chosen.recipe.kind), chosen.recipe.name

    def needs_transitively(chosen, wanted, seen=()):
        return chosen is wanted or any(
            needs_transitively(other, wanted, (*seen, id(chosen))) for other in needs[id(chosen)] if id(other) not in seen)

    def below(chosen):
        wished = [other for name in chosen.method.get("after", []) for other in image
                  if name in (other.recipe.name, other.recipe.kind) and other is not chosen and not needs_transitively(other, chosen)]
        return sorted(needs[id(chosen)] + wished, key=rank)

    def visit(chosen):
        if any(chosen is one for one in done):
            return
        if any(chosen is one for one in path):
            raise Wrong(f"a circle at {chosen.recipe.path}")
        path.append(chosen)
        for other in below(chosen):
            visit(other)
        path.pop()
        done.append(chosen)

    for chosen in sorted(image, key=rank):
        visit(chosen)
    return done
