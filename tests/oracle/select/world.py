"""Random worlds by seed: images that differ in few things, so that each clause and each preference decides often."""
import copy
import json

import facts
import gpus
from host import random_host
from pools import BACKENDS, COMPILERS, EXTRA_FEATURES, FAMILIES_OF_MAPPINGS, GLIBCS, HUGE_PAGES, METHODS, MPIS, NEEDED_KERNELS, RUNTIMES, VENDORS, Dice, Theme
from question import random_question

CASES = 25


class World:
    """`text()` is what the program reads."""

    def __init__(self, seed, new_keys=True, stock=True):
        self.seed, self.dice = seed, Dice(seed)
        self.theme = Theme(self.dice)
        self.rows = []
        while len(self.rows) < self.dice.randint(8, 22):
            self._siblings(self._built())
        for _ in range(self.dice.choices([0, 1, 3], [50, 30, 20])[0]):
            self._siblings(self._mapping(), most=2)
        self.dice.shuffle(self.rows)
        if not new_keys:
            for row in self.rows:
                _without_new_keys(row)
        self.cases = []
        for _ in range(CASES):
            near = self.dice.choice(self.rows)
            question = random_question(self.dice, self.theme, near["image"])
            if self.dice.chance(15) and stock:
                question.stock = set(self.dice.some(self.theme.compilers, 1, 1))
            host = random_host(self.dice, self.theme, near["image"], question)
            if host and not new_keys:
                host = {key: value for key, value in host.items() if key not in ("features", "vendor", "driver", "mpi", "transparent_hugepages")}
            self.cases.append((question, host))

    def text(self):
        cases = [{"host": host, "dsl": question.document, "allow_failing": question.allow_failing, "stock": sorted(question.stock)} for question, host in self.cases]
        return json.dumps({"images": self.rows, "cases": cases}, ensure_ascii=False)

    def _siblings(self, row, most=6):
        self._add(row)
        for _ in range(self.dice.randint(0, most)):
            other = copy.deepcopy(row)
            for _ in range(self.dice.choices([1, 2, 3], [70, 20, 10])[0]):
                self._change(other)
            for _ in range(5 if self.dice.chance(95) else 0):  # twins say little
                if other == row:
                    self._change(other)
            self._add(other)
            if self.dice.chance(25):
                row = other

    def _add(self, row):
        """With a name and a digest of its own, now and then with another's."""
        image, others = row["image"], [one["image"] for one in self.rows]
        if "reference" in image:
            image["code"] = f"code-{self.dice.randrange(100)}-{len(self.rows)}"
            if not self.dice.chance(35):
                image["reference"] = f"docker://hub/image:{self.dice.randrange(1000)}"
        else:
            image["manifest"] = "sha256:" + self.dice.randbytes(32).hex()
            image["tag"] = f"{image['version']}-{self.dice.randrange(100)}-{len(self.rows)}"
            twins = [one["tag"] for one in others if "tag" in one]
            if twins and self.dice.chance(3):
                image["tag"] = twins[-1]
            for one in row["measurements"]:
                one["image"] = image["manifest"]
        self.rows.append(row)

    def _built(self):
        theme, dice = self.theme, self.dice
        image = {"manifest": "", "repository": dice.choice(["a", theme.application, "z"]), "tag": "", "application": theme.application,
                 "version": "", "method": dice.choice(METHODS), "optimised": dice.chance(60), "components": [], "requires": {}}
        row = {"image": image, "stale": False, "failing": False, "retired": "", "measurements": []}
        for change in (_cpu, _accelerators, _version, _compilers, _components, _evidence, _cuda, _kernel_and_glibc, _mpi, _sif, _measured):
            change(self, row)
        for change in (_vendor, _huge_pages, _state):
            if dice.chance(8):
                change(self, row)
        return row

    def _mapping(self):
        theme, dice = self.theme, self.dice
        image = {"reference": f"docker://hub/image:{dice.randrange(1000)}", "code": "", "application": theme.application,
                 "version": dice.choice(theme.versions), "optimised": dice.chance(50), "components": [], "requires": {}}
        row = {"image": image, "stale": False, "failing": False, "retired": "", "measurements": []}
        for change in (_cpu, _accelerators, _compilers, _selectors, _mpi):
            change(self, row)
        return row

    def _change(self, row):
        """One thing about it."""
        if "reference" in row["image"]:
            self.dice.choice([_cpu, _accelerators, _version, _compilers, _optimised, _selectors, _state, _mpi, lambda *_: None])(self, row)
        else:
            self.dice.choices(CHANGES, LOOSE if self.theme.loose else WEIGHTS)[0](self, row)


def _put(there, key, value):
    there.pop(key, None)
    if value:
        there[key] = value


def _cpu(world, row):
    if "reference" in row["image"]:
        image = row["image"]
        _put(image, "cpu", world.dice.choice(FAMILIES_OF_MAPPINGS))
        _put(image["requires"], "vendor", "AuthenticAMD" if image.get("cpu") == "x86_64" and world.dice.chance(30) else "")
    else:
        row["image"]["cpu"] = world.dice.choice(world.theme.cpus)


def _accelerators(world, row):
    makers = world.theme.makers()
    maker = world.dice.choice(makers) if makers and world.dice.chance(85) else ""
    if "reference" in row["image"]:
        _put(row["image"], "accelerators", [maker] * bool(maker))
        return
    targets = world.theme.targets(maker) if maker else []
    if maker and world.theme.two_makers and world.dice.chance(50):
        targets = targets + world.theme.targets("amd" if maker == "nvidia" else "nvidia")
    _put(row["image"], "accelerators", targets)
    _found(world, row)


def _found(world, row):
    """GPU code that agrees with what is declared, mostly."""
    dice, image = world.dice, row["image"]
    declared, evidence = image.get("accelerators", []), image.get("evidence")
    if evidence is None:
        return
    found = []
    if declared and dice.chance(65):
        maker = gpus.code(dice.choice(declared)).vendor
        own_ptx = [one.replace("sm_", "compute_") for one in declared if one[-1] in "af" and "sm_" in one and dice.chance(50)]
        another = [world.theme.targets(maker) for _ in range(2)]
        how = dice.choices(["agrees", "less", "more", "other", "ptx"], [50, 15, 12, 12, 11])[0]
        found = {"agrees": gpus.with_ptx(declared) + own_ptx, "less": declared[:-1] or declared, "more": gpus.with_ptx(declared) + another[0],
                 "other": another[1], "ptx": [one for one in gpus.with_ptx(another[1]) if "compute" in one] + own_ptx or declared}[how]
    _put(evidence, "gpu", sorted({gpus.code(one).name for one in found} - {""}))


def _version(world, row):
    row["image"]["version"] = world.dice.choice(world.theme.versions)


def _method(world, row):
    row["image"]["method"] = world.dice.choice(METHODS)


def _optimised(_, row):
    row["image"]["optimised"] = not row["image"]["optimised"]


def _compilers(world, row):
    image, dice = row["image"], world.dice
    names = dice.some(world.theme.compilers, 0, 2) if world.theme.kind in ("ai", "keras") and dice.chance(40) else []
    if "reference" in image:
        _put(image, "selectors", {key: value for key, value in image.get("selectors", {}).items() if key not in COMPILERS})
        if dice.chance(15):  # imported where no recipe named them
            _put(image, "selectors", {**image.get("selectors", {}), **{name: "true" for name in names}})
            names = []
    image["components"] = [one for one in image["components"] if one["kind"] != "compiler"] + [{"kind": "compiler", "name": name} for name in names]


def _components(world, row):
    image, theme = row["image"], world.theme
    others = [one for one in image["components"] if one["kind"] == "compiler"]
    if world.dice.chance(25):
        others += [{"kind": "distributed", "name": name, "version": "1.0"} for name in world.dice.some(["horovod", "nccl"], 1, 2)]
    if world.dice.chance(15):
        others.append({"kind": "library", "name": "openblas", "version": "0.3.29", "optimised": world.dice.chance(60)})
    if theme.kind == "app":
        others.append({"kind": "library", "name": world.dice.choice(["openmpi", "mpich"]), "version": world.dice.choice(theme.versions)})
    if world.dice.chance(25):
        others += [{"kind": "runtime", "name": name, "version": "1.0", "optimised": optimised, **({"role": role} if role else {})}
                   for name, role, optimised in world.dice.some(RUNTIMES, 1, 2)]
    image["components"] = others


def _selectors(world, row):
    if world.theme.kind == "keras":
        row["image"]["selectors"] = {**row["image"].get("selectors", {}), "backend": world.dice.choice(BACKENDS)}


def _evidence(world, row):
    dice, image = world.dice, row["image"]
    image.pop("evidence", None)
    if dice.chance(25):
        return
    image["evidence"] = evidence = {"verdict": dice.choices(["conforms", "not optimised", "exceeds"], [65, 15, 20])[0], "target": image["cpu"]}
    if evidence["verdict"] == "exceeds":
        features = EXTRA_FEATURES.get(facts.processor(image["cpu"]).family)
        if features:
            evidence["exceeding"] = sorted(dice.some(features, 1, 2))
            evidence["unconditional"] = sorted({*evidence["exceeding"], *dice.some(features, 0, 2)})
            evidence["shown_by"] = {one: f"/usr/lib/lib{one}.so" for one in evidence["exceeding"]}
            if dice.chance(20):
                del evidence["exceeding"]
        else:
            evidence["verdict"] = "conforms"
    elif dice.chance(30):  # what is accepted
        _put(evidence, "unconditional", sorted(dice.some(EXTRA_FEATURES.get(facts.processor(image["cpu"]).family, []), 1, 2)))
    if dice.chance(60):
        evidence["glibc"] = dice.choice(GLIBCS[:4] if dice.chance(85) else GLIBCS)
    if dice.chance(5):
        evidence["missing"] = ["libgone.so.1"]
    _found(world, row)


def _cuda(world, row):
    image, dice = row["image"], world.dice
    nvidia = any(gpus.code(one).vendor == "nvidia" for one in image.get("accelerators", ()))
    _put(image["requires"], "cuda", _cuda_version(world) if nvidia and dice.chance(75) else "")
    _put(image["requires"], "driver", dice.choice([*facts.LEAST_DRIVER.values(), *facts.TOOLKIT_DRIVER.values()]) if nvidia and dice.chance(12) else "")


def _cuda_version(world):
    return world.dice.choice(world.theme.cudas) + world.dice.choice(["", ".0", ".1", ".2"])


def _kernel_and_glibc(world, row):
    dice, requires = world.dice, row["image"]["requires"]
    _put(requires, "kernel", dice.choice(NEEDED_KERNELS) if dice.chance(50) else "")
    _put(requires, "glibc", dice.choice(GLIBCS[2:] if dice.chance(80) else GLIBCS) if dice.chance(70) else "")


def _huge_pages(world, row):
    _put(row["image"]["requires"], "transparent_hugepages", world.dice.choice(HUGE_PAGES[1:]) if world.dice.chance(60) else "")


def _mpi(world, row):
    _put(row["image"]["requires"], "mpi", world.dice.choice(MPIS) if world.dice.chance(60 if world.theme.kind in ("mpi", "app") else 25) else "")


def _vendor(world, row):
    _put(row["image"]["requires"], "vendor", world.dice.choice(VENDORS))


def _sif(world, row):
    image = row["image"]
    image.pop("attachments", None)
    if world.dice.chance(60):
        image["attachments"] = [{"kind": world.dice.choices(["sif", "report"], [80, 20])[0],
                                 "blob": {"mediaType": "application/vnd.sylabs.sif.layer.v1.sif", "digest": "sha256:" + "0" * 64, "size": 4096}}]


def _state(world, row):
    what = world.dice.choice(["stale", "stale", "failing", "retired", "tests", "tests"])
    if what == "tests":
        if "reference" not in row["image"]:
            _tests(world, row)
        return
    row[what] = ("" if row[what] else "withdrawn") if what == "retired" else not row[what]


def _tests(world, row):
    """All that they try, some of it, nothing, or of before it was kept; on machines that are known, some of them, or on none that is."""
    passed, not_run = ["base 1 (distro)", "library 3 (source)"], {"framework 2 (pip)": "there is no GPU here"}
    tests = world.dice.choice([
        None, {"passed": []}, {"passed": passed}, {"passed": passed[:1]}, {"passed": passed}, {"passed": passed, "not_run": not_run},
        {"passed": [], "not_run": not_run}])
    if tests and world.dice.chance(80):
        tests = {**tests, "ran": _runs(world, [*tests["passed"], *tests.get("not_run", {})])}
    _put(row["image"], "tests", tests)


def _runs(world, tests):
    """Where each was run: mostly all on one machine."""
    machines = world.dice.sample(world.theme.machines, 1) * 3 if world.dice.chance(70) else world.theme.machines
    runs = {}
    for test in tests:
        machine = world.dice.choice(machines)
        if not world.dice.chance(8):
            accelerators = {"accelerators": machine["accelerators"]} if machine.get("accelerators") and world.dice.chance(85) else {}
            runs[test] = {"host": "node1", "cpu": machine["cpu"], "kernel": "6.1.0", "at": "2026-11-01T10:00:00Z", **accelerators}
            if world.dice.chance(4):
                runs[test]["emulator"] = "qemu-aarch64 7.2.22"
    return runs


def _over_stock(rounds, low, high):
    return {"rounds": rounds, "over_stock": {"key": "ab" * 32, "ratio": (low + high) / 2, "low": low, "high": high}}


# Equal medians have equal ones.
GAINS = [{}, {"rounds": 9}, {"rounds": 7, "stock": True}, {"rounds": 6, "stock": True}, _over_stock(7, 1.1, 1.4), _over_stock(8, 0.9, 1.2),
         _over_stock(7, 0.5, 0.9), _over_stock(6, 1.2, 1.4), _over_stock(9, 1, 1.2), _over_stock(9, 0.8, 1)]


def _measured(world, row):
    dice, theme = world.dice, world.theme
    row["measurements"] = []
    if not theme.measured or dice.chance(15):
        return
    for _ in range(dice.randint(1, 5)):
        median = dice.randint(90, 110) / 10 if dice.chance(70) else dice.randint(50, 400) / 10
        width = (int(median * 10) * 7919 % 11) / 10  # equal medians have equal quartiles
        workload, unit = dice.choice(theme.scales)
        row["measurements"].append({
            "image": row["image"]["manifest"], "workload": workload, "unit": unit, "median": median, "low": median - width, "high": median + width,
            "samples": 9, "host": dice.choice(theme.machines), "taken": f"2026-11-{dice.randint(1, 4):02}T10:00:00Z"})
        row["measurements"][-1].update(GAINS[int(median * 10) * 7907 % len(GAINS)])
        if dice.chance(40):
            row["measurements"][-1]["workload_files"] = dice.choice(["0a" * 32, "0b" * 32])
    row["measurements"].sort(key=lambda one: one["taken"])


# What is changed, how often, and how often where preferences shall decide.
CHANGES, WEIGHTS, LOOSE = zip(
    (_cpu, 16, 30), (_accelerators, 12, 20), (_found, 8, 12), (_version, 9, 15), (_optimised, 6, 10), (_compilers, 4, 0), (_components, 5, 8),
    (_evidence, 9, 5), (_cuda, 8, 2), (_kernel_and_glibc, 6, 3), (_mpi, 6, 3), (_vendor, 4, 1), (_huge_pages, 6, 2), (_sif, 3, 0), (_state, 10, 10), (_measured, 8, 15),
    (_method, 3, 0))


def _without_new_keys(row):
    row["image"].pop("requires", None)
    row["image"].pop("tests", None)
    for key in ("exceeding", "shown_by"):
        row["image"].get("evidence", {}).pop(key, None)
