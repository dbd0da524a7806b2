"""A whole catalogue: expand, choose, lay, name (docs/formats/matrix.md, "Names and tags"; docs/formats/files.md, "Plan" and "Labels")."""
import hashlib
import json
import re
from collections import Counter

from choose import Excluded, Solver, Wrong, layered, named_components
from expand import Expansion
from matrix import Matrix
from recipes import Target, read_recipes
from stages import ImageBuilder, architecture_of, hash_of

_TAG_KINDS = ("library", "compiler", "distributed", "runtime", "workload", "toolchain")


def make_plan(matrix_file, recipe_folders, target_folder):
    """What `kiln show --stage plan` and the sharing of `kiln plan --format json` say."""
    recipes = read_recipes(recipe_folders)
    matrix = Matrix(matrix_file)
    expansion = Expansion(matrix, recipes)
    images, unresolved = [], []
    for cell in expansion.cells:
        try:
            if cell.get("target") == "none":
                raise Wrong(f"the cell '{cell.id}' has no target")
            images.append(Image(cell, recipes, Target(cell.get("target"), target_folder)))
        except Excluded as excluded:
            cell.exclude(str(excluded), cell.where)
            unresolved.append(cell)
    _refuse_same(cell.id for cell in expansion.cells)
    _refuse_same((image.repository, image.tag) for image in images)
    every = [step for image in images for step in image.steps + image.tests]
    steps = {step.key: step.document() for step in reversed(every)}  # equal steps are one: the first, by its title
    return {
        "name": matrix.name,
        "cells": [image.document() for image in images],
        "excluded": [{"axes": cell.axes, "reason": cell.reason, "where": cell.why} for cell in expansion.excluded + unresolved],
        "steps": steps,
        "sharing": {"steps": len(steps), "without_sharing": len(every), "shared": sum(count > 1 for count in Counter(step.key for step in every).values())},
        "warnings": expansion.warnings,
    }


def _refuse_same(names):
    seen = set()
    for name in names:
        if name in seen:
            raise Wrong(f"two cells are {name}")
        seen.add(name)


class Image:
    """One cell, resolved."""

    def __init__(self, cell, recipes, target):
        self.cell, self.target = cell, target
        method = None if cell.get("method") == "none" else cell.get("method")
        named = named_components(cell, recipes)
        if not any(chosen.recipe.kind == "base" for chosen in named):
            raise Wrong(f"the cell '{cell.id}' has no base")
        self.components = layered(Solver(recipes, target, method).complete(named), target)
        self.builder = ImageBuilder(cell, self.components, recipes, target)
        if not self.builder.cell_optimise.says_nothing and not self.builder.optimise_used:
            raise Excluded(f"no script of this image reads compiler flags: '{cell.get('optimise')}' would change nothing")
        self.tests = self.builder.tests
        self.steps = []
        for _, steps in self.builder.stages:
            self.steps += [step for step in steps if step.key not in {known.key for known in self.steps}]
        self.key = hash_of({"command": ["/bin/sh"], "environment": self.builder.environment, "platform": f"linux/{architecture_of(target)}",
                            "schema": 2, "step": self.builder.last.key})
        self.main = self._main()
        self.optimised = any(chosen.method.get("optimised", False) for chosen in self.components)
        self.repository = self.main.recipe.name.lower().replace("+", "p")
        self.tag = self._tag()
        self.immutable_tag = f"{_shortened(self.tag, 115)}-{self.key[:12]}"

    def _main(self):
        """The framework, else the first that the cell names beside the base, else the base."""
        frameworks = [chosen for chosen in self.components if chosen.recipe.kind == "framework"]
        named = [chosen for chosen in self.components if chosen.recipe.kind != "base" and not chosen.automatic]
        return (frameworks + named + self.components)[0]

    def _tag(self):
        words = [self.main.version, self.main.method_name]
        for kind in _TAG_KINDS:
            words += sorted(_tag_word(one) for one in self.components if one.recipe.kind == kind and not one.automatic and one is not self.main)
        if self.cell.get("optimise") != "none":
            words.append(self.cell.get("optimise").replace("+", "-"))
        words += [self.target.cpu, *(one.split(":")[1] for one in self.target.accelerators)]
        base = self.components[0]
        words.append(base.recipe.name + base.version if base.version[0].isdigit() else base.version)
        return _shortened(re.sub(r"^[.-]", "_", re.sub(r"[^A-Za-z0-9_.-]", "_", "-".join(words))), 128)

    def _labels(self):
        main = self.main
        others = [one.recipe.name for one in self.components if one is not main and not one.automatic and one.recipe.kind != "base"]
        of_kind = lambda kind: " ".join(f"{one.recipe.name}@{one.version}" for one in self.components if one.recipe.kind == kind)
        licences = [one.recipe.written.get("licenses", "") for one in self.components]
        licences = list(dict.fromkeys(f"({one})" if " OR " in one else one for one in licences if one))
        flags = dict.fromkeys(f"{one['variable']}={one['value']}" for one in self.builder.flags if one["compiler"])
        framework = main.recipe.kind == "framework"
        labels = {
            "org.opencontainers.image.title": f"{main.recipe.name} {main.version} ({main.method_name})" + (" with " if others else "") + ", ".join(others),
            "org.opencontainers.image.version": main.version,
            "org.opencontainers.image.licenses": " AND ".join(licences),
            "org.opencontainers.image.description": main.recipe.written.get("description", ""),
            "org.opencontainers.image.url": main.recipe.written.get("homepage", ""),
            "org.opencontainers.image.source": main.recipe.source(main.version).get("url", ""),
            "io.kiln.framework": main.recipe.name if framework else "",
            "io.kiln.framework.version": main.version if framework else "",
            "io.kiln.method": main.method_name,
            "io.kiln.compilers": of_kind("compiler"),
            "io.kiln.libraries": of_kind("library"),
            "io.kiln.runtimes": of_kind("runtime"),
            "io.kiln.components": " ".join(f"{one.recipe.path}@{one.version}:{one.method_name}" for one in self.components),
            "io.kiln.optimise": "" if self.cell.get("optimise") == "none" else self.cell.get("optimise"),
            "io.kiln.claims_gain": "true" if self.optimised else "false",
            "io.kiln.cpu.target": self.target.cpu,
            "io.kiln.gpu.targets": " ".join(one.split(":")[1] for one in self.target.accelerators),
            "io.kiln.key": self.key,
            "io.kiln.cell": self.cell.id,
            "io.kiln.flags": "; ".join(flags),
            "io.kiln.accept": self.acceptances(),
        }
        for one in self.components:
            facts, base = one.recipe.facts(one.version), one.recipe.kind == "base"
            inside = ("python", "mpi", "cpu_vendor", "transparent_hugepages") if not base or facts.get("framework") else ()
            for name in inside + (("driver", "cuda", "cudnn", "glibc", "rocm") if base else ()):
                if facts.get(name):
                    labels["io.kiln.facts." + name] = facts[name]
        return {name: value for name, value in labels.items() if value}

    def acceptances(self):
        """As compact JSON; "" for none."""
        found = [{"by": one.recipe.path, **accepted} for one in self.components for accepted in one.recipe.accepted(one.version, one.method_name)]
        return json.dumps(found, separators=(",", ":"), ensure_ascii=False) if found else ""

    def document(self):
        return {
            "axes": self.cell.axes, "id": self.cell.id, "where": self.cell.where,
            "components": [{"kind": one.recipe.kind, "name": one.recipe.name, "version": one.version, "method": one.method_name,
                            "automatic": one.automatic, "written": one.written, "optimised": one.method.get("optimised", False),
                            **({"accept": accepted} if (accepted := one.recipe.accepted(one.version, one.method_name)) else {}),
                            **({"role": one.recipe.role} if one.recipe.role else {})}
                           for one in self.components],
            "stages": [{"name": name, "steps": [step.key for step in steps]} for name, steps in self.builder.stages],
            "steps": [step.key for step in self.steps], "tests": [step.key for step in self.tests],
            "flags": self.builder.flags, "environment": self.builder.environment, "command": ["/bin/sh"], "labels": self._labels(),
            "repository": self.repository, "tag": self.tag, "immutable_tag": self.immutable_tag,
            "key": self.key, "optimised": self.optimised,
            "target": {"name": self.target.name, "cpu": self.target.cpu, "accelerators": self.target.accelerators, "description": self.target.description},
        }


def _tag_word(chosen):
    """The name, with version and method where the cell insists on them."""
    version = chosen.version if "@" in chosen.written else ""
    return chosen.recipe.name + version + (f".{chosen.method_name}" if ":" in chosen.written else "")


def _shortened(tag, length):
    if len(tag) <= length:
        return tag
    return f"{tag[:length - 13]}-{hashlib.sha256(tag.encode()).hexdigest()[:12]}"
