"""The matrices of a random catalogue: groups, ranges, exclude, include, constraints, and catalogues that are included."""
import json

from recipes import KINDS

TARGETS = ["plain", "gpu", "zen-like.2", "x86_64_v3", "zen3", "x86_64_v3,nvidia:sm_80,nvidia:sm_90a", "neoverse_v1", "zen2,amd:gfx90a", "power9le",
           "haswell,nvidia:sm_120,nvidia:sm_75", "skylake_avx512"]
OPTIMISES = ["none", "o3", "o3+lto", "pgo-generate", "thinlto+os", "pgo-use+o1", "nolto", "o2+nopgo"]
OTHERS = [kind for kind in KINDS if kind not in ("base", "framework")]


class MatrixWriter:
    """Makes matrices of what the recipes have."""

    def __init__(self, dice, recipes):
        self.dice, self.recipes = dice, recipes

    def names(self, kind):
        return [name for other, name in self.recipes if other == kind and "+" not in name]

    def component(self, kind, bare=False):
        """name[@version][:method], all of which there are."""
        dice, name = self.dice, self.dice.choice(self.names(kind))
        recipe, text = self.recipes[kind, name], name
        if not bare and dice.chance(35):
            text += "@" + dice.choice(list(recipe["versions"]))
        if not bare and dice.chance(15):
            text += ":" + dice.choice(list(recipe["methods"]))
        return text

    def components(self, kind):
        first = self.component(kind)
        second = self.component(kind)
        name = lambda text: text.split("@")[0].split(":")[0]
        return f"{first}+{second}" if self.dice.chance(25) and name(first) != name(second) else first

    def values(self, axis):
        dice = self.dice
        if axis == "base":
            versions = [f"{name}@{version}" for name in self.names("base") for version in self.recipes["base", name]["versions"]]
            return dice.sample(versions, min(len(versions), dice.randint(1, 2)))
        if axis == "framework":
            names = self.names("framework")
            found = dice.sample(names, min(len(names), dice.randint(1, 2)))
            return found + (["none"] if dice.chance(5) else [])
        if axis == "target":
            return dice.sample(TARGETS, dice.randint(1, 3))
        if axis == "method":
            known = sorted({method for recipe in self.recipes.values() for method in recipe["methods"]})
            return dice.sample(known, min(len(known), dice.randint(1, 3)))
        if axis == "optimise":
            return dice.sample(OPTIMISES, dice.randint(1, 2))
        found = ["none"] if dice.chance(60) else []
        for _ in range(dice.randint(1, 2)):
            found.append(self.components(axis))
        return list(dict.fromkeys(found))

    def versions(self, frameworks):
        dice = self.dice
        own = [version for name in frameworks if name != "none" for version in self.recipes["framework", name]["versions"]]
        if not own:
            return None
        found = [dice.choice([one, f">={one}", f"<={one}", "*", f"=={one}", f">={one} !=2.0"]) for one in dice.sample(own, min(len(own), dice.randint(1, 2)))]
        return list(dict.fromkeys(found))

    def axes(self):
        dice = self.dice
        found = {"base": self.values("base"), "target": self.values("target")}
        if dice.chance(90):
            found["framework"] = self.values("framework")
            if dice.chance(70) and (versions := self.versions(found["framework"])):
                found["version"] = versions
        others = [*OTHERS, "method", "optimise"] if "framework" in found else [*OTHERS, "optimise"]
        for axis in dice.sample(others, dice.randint(0, 3)):
            found[axis] = self.values(axis)
        order = list(found)
        dice.shuffle(order)
        return {axis: found[axis] if len(found[axis]) > 1 or dice.chance(70) else found[axis][0] for axis in order}

    def pattern(self, axes):
        """A glob or range that some cell may well match."""
        dice, found = self.dice, {}
        for axis in dice.sample(list(axes), min(len(axes), dice.randint(1, 2))):
            values = axes[axis] if isinstance(axes[axis], list) else [axes[axis]]
            value = dice.choice(values)
            if axis == "version":
                bare = value.lstrip("<>=! ").split(" ")[0]
                found[axis] = dice.choice([f"<{bare}", f">{bare}", f"<={bare}", f">={bare}", bare, bare.split(".")[0], f"!={bare}", "none"]) if bare != "*" else "*"
            else:
                name = value.split("@")[0].split(":")[0]
                found[axis] = dice.choice([value, name, f"{name[:1]}*", f"?{name[1:]}", f"*{value[-1]}", "none", f"*{name}@*"])
        if dice.chance(15):
            found[dice.choice(OTHERS)] = dice.choice(["none", "*", "a*"])
        return found

    def condition(self, axes):
        found = self.pattern(axes)
        if self.dice.chance(40):
            kind = self.dice.choice(KINDS)
            facts = sorted({fact for (other, _), recipe in self.recipes.items() if other == kind for version in recipe["versions"].values() for fact in version.get("facts", {})})
            if facts:
                found[f"{kind}.{self.dice.choice(facts)}"] = self.dice.choice(["none", "1.2", ">=1.10", "<10.1", "red", "*", "gcc", "!=12", "1", "==3"])
        return found

    def include(self, axes):
        """Values of the axes, or others, and maybe an axis more."""
        dice, found = self.dice, {}
        whole = dice.chance(60)
        for axis in axes:
            if not whole and not (axis in ("base", "target") and dice.chance(95)) and not dice.chance(40):
                continue
            values = axes[axis] if isinstance(axes[axis], list) else [axes[axis]]
            found[axis] = dice.choice(values)
            if axis not in ("version", "method", "optimise") and dice.chance(20):
                found[axis] = dice.choice(self.values(axis))
        if dice.chance(60) or not found:
            axis = dice.choice([*OTHERS, "method", "optimise"])
            found.setdefault(axis, dice.choice(self.values(axis)))
        framework = found.get("framework", "none").split("@")[0].split(":")[0]
        if framework == "none" or found.get("version", "*")[0] not in "<>=*" and found["version"] not in self.recipes["framework", framework]["versions"]:
            found.pop("version", None)  # what no recipe has is an error
        return found

    def group(self):
        axes = self.axes()
        found = {"axes": axes}
        if self.dice.chance(45):
            found["exclude"] = [self.pattern(axes) | ({"reason": f"reason {index}"} if self.dice.chance(50) else {}) for index in range(self.dice.randint(1, 2))]
        if self.dice.chance(45):
            found["include"] = [self.include(axes) for _ in range(self.dice.randint(1, 3))]
            last = found["include"][-1]
            for axis in [axis for axis in last if axis not in (*axes, "framework", "version")][:1]:  # what one include added, the next may change
                found["include"].append(last | {axis: self.dice.choice(self.values(axis))})
        return found

    def matrix(self, name):
        dice, found = self.dice, {"name": name}
        groups = [self.group() for _ in range(dice.choice([1, 1, 2, 3]))]
        if len(groups) == 1 and dice.chance(60):
            found |= groups[0]
        else:
            found["groups"] = [{"name": f"g{index}", **group} for index, group in enumerate(groups)]
        if dice.chance(60):
            axes = dice.choice(groups)["axes"]
            found["constraints"] = [{"if": self.condition(axes), dice.choice(["require", "forbid"]): self.condition(axes), "reason": f"rule {index} of {name}"}
                                    for index in range(dice.randint(1, 3))]
        return found


def write_matrices(dice, folder, recipes):
    """matrix.json, and one or two that it includes."""
    writer = MatrixWriter(dice, recipes)
    matrix = writer.matrix("random")
    if dice.chance(25):
        (folder / "more").mkdir()
        names = ["more/one.json"] + (["two.json"] if dice.chance(40) else [])
        matrix = {"name": matrix.pop("name"), "includes": names, **matrix}
        for index, name in enumerate(names):
            other = writer.matrix(f"other{index}")
            if index == 0 and len(names) == 2 and dice.chance(50):
                other["includes"] = ["../two.json"]
            (folder / name).write_text(json.dumps(other, indent=dice.choice([1, 2, 4])))
    (folder / "matrix.json").write_text(json.dumps(matrix, indent=2))
