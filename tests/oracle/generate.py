"""Random catalogues by seed: recipes, targets and matrices of odd but valid form, most of which make a plan."""
import json
import pathlib
import random

from generate_matrix import write_matrices
from recipes import KINDS
from versions import contains

METHODS = ["hub", "pip", "distro", "vendor", "source"]
NAMES = ["a", "b", "Zed", "lib.x", "x_y", "k-1", "0", "none2", "bases", "gcc", "long-" + "n" * 40]
# No two are the same version: 1 is 1.0.
VERSIONS = ["1.0", "1.10", "1.9.1", "2.0rc1", "2.0", "2.0.post1", "2.0.1", "2.0.b", "v3", "trixie", "2.1-cuda10", "10", "2024a", "0.9", "2.1.dev3", "1.9a2", "Bookworm"]
COMPILERS = {"gcc": ["7.5.0", "8.3", "9.4.0", "12.2.0", "14.2", "4.9"], "clang": ["8.0.0", "15.0", "19.1.0"], "nvhpc": ["23.9"], "intel": ["2021.2"], "aocc": ["4.0"]}
TARGET_GLOBS = ["*nvidia*", "zen*", "x86_64*", "*sm_80*", "plain", "*", "neo?erse*", "*amd:gfx*"]
OWN = ["KILN_VERSION", "KILN_METHOD", "KILN_NAME", "KILN_PREFIX", "KILN_SOURCE_URL", "KILN_SOURCE_CHECKSUM", 
       "KILN_CPU_TARGET", "KILN_CPU_FAMILY", "KILN_GPU_TARGETS", "KILN_OPTIMISE", "KILN_PROFILE", "KILN_CUDA_ARCHS",
       "TORCH_CUDA_ARCH_LIST", "CUDAARCHS", "TF_CUDA_COMPUTE_CAPABILITIES", "PYTORCH_ROCM_ARCH"]
OWN += [f"KILN_{kind.upper()}_{what}" for kind in KINDS for what in ("NAME", "VERSION")]
COMPILED = ["CFLAGS", "CXXFLAGS", "FFLAGS", "LDFLAGS", "KILN_CPU_FLAGS", "KILN_BAZEL_COPTS", "KILN_BAZEL_LINKOPTS", "KILN_CMAKE_FLAGS", "KILN_NVCC_FLAGS",
            "NVCC_APPEND_FLAGS", "KILN_HIP_FLAGS"]


class Dice(random.Random):
    """Choices with words for them."""

    def chance(self, percent):
        return self.randrange(100) < percent

    def some(self, values, most):
        return self.sample(list(values), min(len(values), self.randint(0, most)))


class Generator:
    """One catalogue."""

    def __init__(self, seed, folder):
        self.dice, self.folder = Dice(seed), pathlib.Path(folder)
        self.recipes = {}  # (kind, name) → recipe
        self.counts = {"base": 2, "toolchain": 4, "library": 4, "framework": 3, "compiler": 2, "distributed": 3, "runtime": 3, "workload": 1}

    def write(self):
        components = [(kind, name) for kind in KINDS for name in self.dice.sample(NAMES, self.dice.randint(1, self.counts[kind]))]
        for kind, name in components:
            self.recipes[kind, name] = {"versions": self._versions(kind)}
        order = list(self.recipes)
        self.dice.shuffle(order)
        for place, (kind, name) in enumerate(order):
            recipe = self.recipes[kind, name]
            self._describe(kind, name, recipe, order[:place])
            self._write_recipe(kind, name, recipe)
        self._write_shared()
        self._write_targets()
        write_matrices(self.dice, self.folder, self.recipes)

    def _versions(self, kind):
        dice, found = self.dice, {}
        compiler = dice.choice(["gcc", "gcc", "gcc", "clang", "clang", dice.choice(list(COMPILERS))]) if kind == "toolchain" and dice.chance(75) else None
        for version in dice.sample(VERSIONS, dice.randint(1, 4)):
            facts = {"colour": dice.choice(["red", "1.2", "none", "3", "hub-x", "1.10"]), "cuda": dice.choice(["none", "10.1", "12", "9.2.148"])}
            facts = {key: value for key, value in facts.items() if dice.chance(70)}
            if compiler:
                facts |= {"compiler": compiler, "compiler_version": dice.choice(COMPILERS[compiler])}
            found[version] = {"facts": facts} if facts else {}
            if dice.chance(30):
                found[version]["source"] = {"url": f"https://example.org/{version}.tar", "checksum": "git:" + f"{dice.getrandbits(160):040x}"}
        return found

    def _describe(self, kind, name, recipe, below):
        dice = self.dice
        methods = dice.sample(METHODS, dice.choice([1, 1, 2, 2, 3]))
        own = list(recipe["versions"])
        make = self._base_method if kind == "base" else self._method
        recipe["methods"] = {method: make(kind, name, own, below) for method in methods}
        if kind not in ("base", "framework") and dice.chance(15):
            recipe["role"] = dice.choice(["allocator", "openmp"])
        if kind == "base" and len(own) > 1 and dice.chance(60):
            self._build_on(recipe)
        if dice.chance(60):
            tests = [self._test(index, own) for index in range(dice.randint(1, 3))]
            recipe["test"] = tests if len(tests) > 1 or dice.chance(30) else tests[0]
        for key, values in {"description": ["A thing", "Ümlaut & \"quotes\""], "homepage": ["https://example.org"], "licenses": ["MIT", "MIT OR ISC", "BSD-3-Clause"]}.items():
            if dice.chance(50):
                recipe[key] = dice.choice(values)

    def _build_on(self, recipe):
        """Some versions are built upon one other, which has all their methods."""
        ranges = [method.get("versions", "*") for method in recipe["methods"].values()]
        one, *others = self.dice.sample(list(recipe["versions"]), len(recipe["versions"]))
        for other in others:
            if self.dice.chance(60) and all(contains(range, one) for range in ranges if contains(range, other)):
                recipe["versions"][other]["build_on"] = one

    def _shared(self, method, recipe_name):
        own = list(self.recipes[recipe_name]["versions"])
        dice = self.dice
        if len(own) > 1 and dice.chance(25):
            method["versions"] = self._range(own)
        if dice.chance(30):
            method["optimised"] = dice.chance(60)
        if dice.chance(30):
            method["files"] = dice.sample(["one.txt", "two.txt", "sub/three.txt", "shared:sub/four.txt", "script.sh"], dice.randint(1, 3))
            for place in range(len(method["files"])):
                if dice.chance(40):
                    method["files"][place] = {"file": method["files"][place], "when": self._when_of_file(own)}
        if dice.chance(60):
            facts = {f"KILN_FACT_{fact.upper()}" for version in self.recipes[recipe_name]["versions"].values() for fact in version.get("facts", {})}
            method["parameters"] = dice.some(OWN, 6) + dice.some(sorted(facts), 2)
        if dice.chance(35):
            values = ["1", "a b", "/opt/x:$PATH", "\"'\\", "", "/opt/x:{PATH}", "{PATH}:{PATH}", "x.so:{X_Y}", "{X_Y},b {X_Y}", "{X_Y}", {"value": "c {X_Y}", "with": self._component()}, {"value": "/y:{PATH}", "with": self._component()}]
            method["environment"] = {key: dice.choice(values) for key in dice.some(["PATH", "X_Y", "HOME_OF", "KILN_VERSION"], 2)}
        return method

    def _base_method(self, kind, name, _own, _below):
        dice = self.dice
        method = self._shared({}, (kind, name))
        if dice.chance(50):
            method["image"] = dice.choice(["docker.io/library/x:{version}", "quay.io/a/b:{version}-slim", "docker.io/c/d:latest"])
        else:
            method["rootfs"] = "rootfs.sh"
            if dice.chance(40):
                method["archive"] = "archive.sh"
                method["parameters"] = method.get("parameters", []) + ["KILN_ARCHIVE"]
            if dice.chance(40):
                method["site"] = dice.choice(["site.sh", "archive.sh"])
        if dice.chance(40):
            method["script"] = "script.sh"
        self._hand_secrets(method, {"rootfs", "script"} & set(method))
        return method

    def _hand_secrets(self, part, to):
        if to and self.dice.chance(25):
            part["secrets"] = self.dice.sample(["token", "licence.key", "Zwei_3"], self.dice.randint(1, 3))

    def _method(self, kind, name, own, below):
        dice = self.dice
        method = self._shared({}, (kind, name))
        if dice.chance(85):
            method["script"] = "script.sh"
            self._hand_secrets(method, True)
        needs = self._needs((kind, name), own, below, 2)
        if needs:
            method["needs"] = needs
        if dice.chance(30):
            method["after"] = dice.some(sorted({*KINDS, *(other for _, other in self.recipes)}), 2)
        compilers = [other for other in below if other[0] == "toolchain" and "compiler" in next(iter(self.recipes[other]["versions"].values())).get("facts", {})]
        compiler = {"kind": "toolchain", "name": dice.choice(compilers)[1]} if compilers and dice.chance(60) else None
        if dice.chance(30):
            method["build"] = {"script": "build.sh", "copy": [f"/opt/kiln/{name}"] + (["/srv/more"] if dice.chance(20) else [])}
            if "script" in method and dice.chance(30):
                method["build"]["mount"] = ["/srv/wheels"] + (["/srv/other"] if dice.chance(30) else [])
                if dice.chance(60):
                    del method["build"]["copy"]
            self._hand_secrets(method["build"], True)
            needs = self._needs((kind, name), own, below, 2)
            if compiler:
                needs = [compiler] + [one for one in needs if one.get("name") != compiler["name"]]
            if needs:
                method["build"]["needs"] = needs
        elif compiler:
            method["needs"] = [compiler] + [one for one in method.get("needs", []) if one.get("name") != compiler["name"]]
        if compiler or dice.chance(1):
            method["parameters"] = method.get("parameters", []) + dice.some(COMPILED, 5)
            if dice.chance(40):
                method["optimise"] = self._optimise()
        return method

    def _optimise(self):
        dice = self.dice
        found = {"level": dice.choice(["0", "1", "2", "3", "s"]), "lto": dice.choice([True, False, "thin"]), "pgo": dice.choice(["generate", "use"]), "profile": "/srv/p"}
        return dict(dice.sample(sorted(found.items()), dice.randint(1, 2)))

    def _needs(self, own_name, own, below, most):
        dice, needs, taken = self.dice, [], set()
        for _ in range(dice.randint(0, most)):
            others = [other for other in below if other != own_name and other not in taken and (other[0] not in ("base", "framework") or dice.chance(25))]
            if len(others) > 1 and dice.chance(35):
                options = dice.sample(others, min(len(others), dice.randint(2, 3)))
                taken.update(options)
                need = {"any": [self._need(other, own, 20) for other in options]}
                if dice.chance(25):
                    need["when"] = self._when(own)
                needs.append(need)
            elif others:
                other = dice.choice(others)
                taken.add(other)
                needs.append(self._need(other, own, 30))
        return needs

    def _need(self, other, own, conditions):
        dice = self.dice
        need = {"kind": other[0], "name": other[1]}
        if dice.chance(40):
            need["version"] = self._range(list(self.recipes[other]["versions"]))
        if dice.chance(conditions):
            need["when"] = self._when(own)
        return need

    def _when(self, own):
        dice = self.dice
        when = {"version": self._range(own), "target": dice.choice(TARGET_GLOBS)}
        drop = dice.choice(["version", "target", ""])
        when.pop(drop, None)
        return when

    def _when_of_file(self, own):
        when = self._when(own) if self.dice.chance(50) else {}
        if not when or self.dice.chance(30):
            when["with"] = self._component()
        return when

    def _component(self):
        """One of the catalogue, or some of its versions."""
        component = self.dice.choice(list(self.recipes))
        range = "@" + self._range(list(self.recipes[component]["versions"])) if self.dice.chance(40) else ""
        return "/".join(component) + range

    def _range(self, versions):
        """In which one of the versions surely is."""
        dice = self.dice
        bounds = [*versions, *VERSIONS, "1", "2", "1.9", "2.1"]
        for _ in range(20):
            text = dice.choice(["", "", "==", ">=", "<=", ">", "<", "!="]) + dice.choice(bounds)
            stands_alone = text.isalpha()  # a name such as trixie
            if dice.chance(25) and not stands_alone:
                text += dice.choice([" ", ", "]) + dice.choice([">=", "<", "!=", "<="]) + dice.choice(bounds)
            if any(contains(text, one) for one in versions):
                return text
        return f">={dice.choice(versions)}"

    def _test(self, index, own):
        dice = self.dice
        test = {"script": f"test{index}.sh"}
        if dice.chance(30):
            test["files"] = dice.choice([["one.txt"], ["shared:sub/four.txt", "one.txt"]])
        if dice.chance(30):
            test["when"] = self._when(own)
        return test

    def _write_shared(self):
        folder = self.folder / "recipes/shared/sub"
        folder.mkdir(parents=True)
        (folder / "four.txt").write_text("# four.txt\n")

    def _write_recipe(self, kind, name, recipe):
        folder = self.folder / "recipes" / kind / name
        folder.mkdir(parents=True)
        text = json.dumps(recipe, indent=1, ensure_ascii=self.dice.chance(50))
        texts = {"common": "echo common\n", "own": f"echo {kind} {name}\n"}
        for file in ("script.sh", "build.sh", "rootfs.sh", "archive.sh", "site.sh", "test0.sh", "test1.sh", "test2.sh", "one.txt", "two.txt", "sub/three.txt"):
            content = f"# {file}\n" + texts[self.dice.choice(["common", "own"])]
            if f'"{file}"' in text:
                (folder / file).parent.mkdir(exist_ok=True)
                (folder / file).write_text(content)
        (folder / "recipe.json").write_text("// made by tests/oracle/generate.py\n" + text)

    def _write_targets(self):
        (self.folder / "targets").mkdir()
        for name, target in {"plain": {"cpu": "x86_64", "description": "any"}, "gpu": {"cpu": "broadwell", "accelerators": ["nvidia:sm_61"]},
                             "zen-like.2": {"cpu": "zen2"}}.items():
            (self.folder / "targets" / f"{name}.json").write_text(json.dumps(target))
