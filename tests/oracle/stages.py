"""Stages and their steps, with parameters and keys (docs/formats/recipe.md, "Stages"; docs/formats/files.md, "Keys")."""
import hashlib

import archspec.cpu

from choose import Excluded, Solver, Wrong, layered, requirements
from flags import COMPILER_VARIABLES, GPU_VARIABLES, LEVEL_FREE, Flags, Impossible, Optimise, amd, gpu_value, nvidia
from jsonc import canonical
from recipes import KINDS, holds, is_in

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ARCHITECTURES = {"x86_64": "amd64", "x86": "386", "aarch64": "arm64"}


def architecture_of(target):
    """OCI's word."""
    family = archspec.cpu.TARGETS[target.cpu].family.name
    return _ARCHITECTURES.get(family, family)


def hash_of(inputs):
    return hashlib.sha256(canonical(inputs)).hexdigest()


class Step:
    """One thing that is done, and its key."""

    def __init__(self, kind, chosen, parent, **more):
        self.kind, self.chosen = kind, chosen
        self.component, self.version, self.method = chosen.recipe.path, chosen.version, chosen.method_name
        self.title = ("test " if kind == "test" else "") + f"{chosen.recipe.name} {chosen.version} ({chosen.method_name})"
        self.parent = parent.key if parent else ""
        self.source = more.pop("source", None)  # the last step of the stage that is copied from
        self.site = more.pop("site", "")  # a script beside it, which is no part of what it does
        self.cache = more.pop("cache", [])  # what it holds decides no bit
        secrets = sorted(more.pop("secrets", []))
        self.inputs = {"schema": 1, "kind": kind, "component": self.component, "parent": self.parent, **more}
        if secrets:
            self.inputs["secrets"] = secrets
        self.script, self.files = "", []
        if "script" in more:
            self.script = more["script"]
            self.files = [self.script, *dict.fromkeys(file for file in more["files"] if file != self.script)]
            self.inputs["script"] = {"name": self.script, "digest": chosen.recipe.digest(self.script)}
            self.inputs["files"] = {file: chosen.recipe.digest(file) for file in self.files[1:]}
        self.key = hash_of(self.inputs)

    def document(self):
        """As `kiln show --stage plan` has it."""
        cache = {"cache": self.cache} if self.cache else {}
        return {**cache, "kind": self.kind, "component": self.component, "version": self.version, "method": self.method, "title": self.title,
                "parent": self.parent, "from": self.inputs.get("from", ""), "copy": self.inputs.get("copy", []), "mount": self.inputs.get("mount", []), "script": self.script,
                "files": self.files, "site": self.site, "secrets": self.inputs.get("secrets", []), "parameters": self.inputs.get("parameters", {}), "reference": self.inputs.get("reference", ""),
                "inputs": self.inputs, "key": self.key}


def _upon(lower, name, value):
    """"{NAME}" is the value of the lower layers; without one, it goes with one separator beside it, the one before it first."""
    before, place, after = value.partition("{" + name + "}")
    if place and not lower:
        if before.endswith((":", " ", ",")):
            before = before[:-1]
        elif after.startswith((":", " ", ",")):
            after = after[1:]
    return before + lower + after if place else value


class ImageBuilder:
    """Lays the chosen components of one cell."""

    def __init__(self, cell, image, recipes, target):
        self.cell, self.image, self.recipes, self.target = cell, image, recipes, target
        self.cell_optimise = Optimise.of_axis(cell.get("optimise"))
        self.optimise_used = False
        self.stages, self.flags, self.built, self.building = [], [], {}, []
        self.environment = {}
        for chosen in image:
            for name, value in chosen.method.get("environment", {}).items():
                if isinstance(value, dict):
                    if not is_in([(other.recipe, other.version) for other in image], value["with"]):
                        continue
                    value = value["value"]
                self.environment[name] = _upon(self.environment.get(name, "") or (DEFAULT_PATH if name == "PATH" else ""), name, value)
        steps, laid = [], []
        for chosen in image:
            self._lay(steps, chosen, laid, image)
        self.stages.append(("image", steps))
        self.last = steps[-1]
        self.tests = [self._test(chosen, test) for chosen in image for test in chosen.recipe.tests
                      if holds(test.get("when", {}), chosen.version, target)]

    def _lay(self, steps, chosen, laid, stage):
        """`stage`: all that the stage has once it is laid."""
        method = chosen.method
        if chosen.recipe.kind == "base":
            steps.append(self._base(chosen, stage))
        mounted = {}
        if chosen.build:
            source = self._build(chosen)
            if "copy" in chosen.build:
                steps.append(Step("copy", chosen, steps[-1], copy=chosen.build["copy"], **{"from": source.key}, source=source))
            if "mount" in chosen.build:
                mounted = {"mount": chosen.build["mount"], "from": source.key, "source": source}
        if "script" in method:
            parameters = self._parameters(chosen, laid, "optional" if chosen.build else "required")
            steps.append(Step("run", chosen, steps[-1], script=method["script"], files=self._files(chosen, stage), parameters=parameters,
                              secrets=method.get("secrets", []), cache=method.get("cache", []), **mounted))
        laid.append(chosen)

    def _files(self, chosen, stage):
        """Those of the method that hold here, beside what the image or the stage has."""
        beside = [(one.recipe, one.version) for one in [*self.image, *stage]]
        written = [file if isinstance(file, dict) else {"file": file, "when": {}} for file in chosen.method.get("files", [])]
        return [file["file"] for file in written if holds(file["when"], chosen.version, self.target)
                and ("with" not in file["when"] or is_in(beside, file["when"]["with"]))]

    def _base(self, chosen, stage):
        method, architecture = chosen.method, architecture_of(self.target)
        if "image" in method:
            return Step("pull", chosen, None, architecture=architecture, reference=method["image"].replace("{version}", chosen.version))
        files = self._files(chosen, stage) + [method[key] for key in ("archive", "site") if key in method]
        return Step("rootfs", chosen, None, architecture=architecture, script=method["rootfs"], files=files,
                    parameters=self._parameters(chosen, [], "required"), secrets=method.get("secrets", []), site=method.get("site", ""))

    def _build_base(self):
        """The image's base, in the version that it names for building."""
        base = self.image[0]
        other = base.recipe.build_on(base.version)
        return base if other is None else base.in_version(other)

    def _build(self, chosen):
        """The stage that builds a component: the base to build on and what the build needs, in the image's versions where those fit."""
        if chosen.identity in self.built:
            return self.built[chosen.identity]
        if chosen.identity in self.building:
            raise Wrong(f"{chosen.recipe.path} is needed to build itself")
        self.building.append(chosen.identity)
        method = self.cell.get("method")
        needed = requirements(chosen.build.get("needs", []), chosen, self.target)
        tools = Solver(self.recipes, self.target, None if method == "none" else method, self.image).complete([self._build_base()], needed)
        steps, laid = [], []
        tools = layered([_as_automatic(tool) for tool in tools], self.target)
        for tool in tools:
            self._lay(steps, tool, laid, tools)
        steps.append(Step("run", chosen, steps[-1], script=chosen.build["script"], files=self._files(chosen, tools),
                          parameters=self._parameters(chosen, laid, "required"), secrets=chosen.build.get("secrets", []), cache=chosen.method.get("cache", [])))
        self.building.pop()
        name = f"build-{chosen.recipe.name}"
        if any(name == other for other, _ in self.stages):
            name += f"-{chosen.recipe.kind}-{chosen.version}-{chosen.method_name}"
        self.stages.append((name, steps))
        self.built[chosen.identity] = steps[-1]
        return steps[-1]

    def _test(self, chosen, test):
        parameters = self._parameters(chosen, [], "none")
        always = ("KILN_NAME", "KILN_VERSION", "KILN_METHOD", "KILN_CPU_FAMILY", "KILN_CPU_TARGET", "KILN_GPU_TARGETS")
        parameters.update({name: self._value(name, chosen) for name in always})
        step = Step("test", chosen, self.last, script=test["script"], files=test.get("files", []), parameters={**self.environment, **parameters})
        if len(chosen.recipe.tests) > 1:
            step.title += f": {test['script']}"
        return step

    def _parameters(self, chosen, laid, flags):
        """`flags`: "required" of a compiler in the stage, "optional" where there may be none, "none" in a test."""
        found, made = {}, None
        for name in chosen.method.get("parameters", []):
            if name in ("KILN_OPTIMISE", "KILN_PROFILE"):
                self.optimise_used |= flags != "none" and self._takes_cell_optimise(chosen)
            if name not in COMPILER_VARIABLES:
                found[name] = self._value(name, chosen)
                if name in GPU_VARIABLES:
                    self._note(name, found[name], "", " ".join(amd(self.target) if "ROCM" in name else [f"sm_{one}" for one in nvidia(self.target)]), chosen)
                continue
            if flags == "none":
                continue
            compiler = self._compiler_of(chosen, laid)
            if compiler is None and flags == "optional":
                found[name] = ""
                continue
            if compiler is None:
                raise Wrong(f"{chosen.recipe.path} reads {name} without a compiler")
            made = made or self._flags_for(chosen, laid, compiler)
            self.optimise_used |= name not in LEVEL_FREE and self._takes_cell_optimise(chosen)
            found[name] = made.value(name)
            language = made.language(name)
            self._note(name, found[name], f"{language.name} {language.version}", language.target, chosen)
        return found

    def _note(self, variable, value, compiler, target, chosen):
        flag = {"variable": variable, "value": value, "compiler": compiler, "target": target, "component": chosen.recipe.path}
        if flag not in self.flags:
            self.flags.append(flag)

    def _flags_for(self, chosen, laid, compiler):
        gccs = [one for one in laid if _is_compiler(one) and one.facts["compiler"] == "gcc"]
        name_of = lambda one: (one.facts["compiler"], one.facts["compiler_version"])
        try:
            return Flags(self.target, name_of(compiler), name_of(gccs[-1]) if gccs else None, self._optimise_of(chosen))
        except Impossible as impossible:
            if self._takes_cell_optimise(chosen) and not self.cell_optimise.says_nothing:
                raise Excluded(f"{chosen.recipe.name}: {impossible}") from None
            raise Wrong(str(impossible)) from None
        except KeyError:
            raise Wrong(f"archspec knows no compiler {compiler.facts['compiler']}") from None

    def _compiler_of(self, chosen, laid):
        """One that the method itself needs, else the one laid last (docs/formats/targets.md)."""
        needed = requirements(chosen.needs, chosen, self.target)
        if chosen.build:
            needed += requirements(chosen.build.get("needs", []), chosen, self.target)
        names = [option["name"] for one in needed for option in one.options if option["kind"] == "toolchain"]
        compilers = [one for one in laid if _is_compiler(one)]
        return next((one for one in compilers if one.recipe.name in names), compilers[-1] if compilers else None)

    @staticmethod
    def _takes_cell_optimise(chosen):
        return chosen.recipe.kind not in ("base", "toolchain")

    def _optimise_of(self, chosen):
        optimise = Optimise.of_method(chosen.method.get("optimise", {}))
        if self._takes_cell_optimise(chosen):
            optimise = optimise.under(self.cell_optimise)
        optimise.profile = optimise.profile or f"/opt/kiln/profile/{chosen.recipe.name}"
        return optimise

    def _value(self, name, chosen):
        """A parameter that is no compiler flag (docs/formats/recipe.md, "Parameters")."""
        if name.startswith("KILN_FACT_"):
            return chosen.facts.get(name.removeprefix("KILN_FACT_").lower(), "")
        if name in GPU_VARIABLES:
            return gpu_value(name, self.target)
        kind, _, what = name.removeprefix("KILN_").lower().rpartition("_")
        if kind in KINDS:
            return " ".join(one.recipe.name if what == "name" else one.version for one in self.image if one.recipe.kind == kind)
        source, optimise = chosen.recipe.source(chosen.version), self._optimise_of(chosen)
        return {
            "KILN_VERSION": chosen.version, "KILN_METHOD": chosen.method_name, "KILN_NAME": chosen.recipe.name,
            "KILN_PREFIX": f"/opt/kiln/{chosen.recipe.name}", "KILN_ARCHIVE": "",
            "KILN_SOURCE_URL": source.get("url", ""), "KILN_SOURCE_CHECKSUM": source.get("checksum", ""),
            "KILN_CPU_TARGET": self.target.cpu, "KILN_CPU_FAMILY": archspec.cpu.TARGETS[self.target.cpu].family.name,
            "KILN_GPU_TARGETS": " ".join(one.split(":")[1] for one in self.target.accelerators),
            "KILN_OPTIMISE": optimise.text(), "KILN_PROFILE": optimise.profile if optimise.pgo not in ("", "off") else "",
        }[name]


def _is_compiler(chosen):
    return chosen.recipe.kind == "toolchain" and bool(chosen.facts.get("compiler") and chosen.facts.get("compiler_version"))


def _as_automatic(chosen):
    """In a build stage all are of equal rank: layered by kind and name."""
    tool = type(chosen)(chosen.recipe, chosen.version, chosen.method_name)
    return tool
