"""Random questions near an image: what is asked, and a document of the DSL that asks it."""
import dataclasses

import facts
import gpus
from pools import BACKENDS, COMPILERS, CPU_TYPES, METHODS, RUNTIMES


@dataclasses.dataclass
class Question:
    """`version` is a range, "" any; of the `library`'s where `version_is_of_library`."""
    application: str
    version: str = ""
    library: str = ""
    version_is_of_library: bool = False
    optimised: bool = True
    acc_type: str = ""
    cpu_type: str = ""
    cpu: str = ""
    gpu: str = ""
    compilers: set = dataclasses.field(default_factory=set)
    refused: set = dataclasses.field(default_factory=set)  # compilers that are asked for as false
    stock: set = dataclasses.field(default_factory=set)  # compilers that every build of the application has
    method: str = ""
    selectors: dict = dataclasses.field(default_factory=dict)
    sif: bool = False
    workload: str = ""
    allow_failing: bool = False
    document: dict = dataclasses.field(default_factory=dict)


def random_question(dice, theme, image):
    """One that the image suits, mostly."""
    asked = Question(image["application"] if dice.chance(97) else "unheard-of")
    asked.allow_failing = dice.chance(20)
    if theme.kind == "app" and dice.chance(15):  # without an optimisation part
        asked.optimised = False
        asked.document = {"application": {"app_tag": asked.application}}
        return asked
    asked.optimised = dice.chance(88 if image["optimised"] else 45)
    _target(asked, dice, theme, image)
    asked.sif = dice.chance(3 if theme.loose else 10)
    asked.workload = dice.choice(theme.scales)[0] if theme.measured and dice.chance(30) else ""
    asked.method = (image.get("method", "") if dice.chance(75) else dice.choice(METHODS)) if dice.chance(8) else ""
    version = image["version"]
    if theme.kind in ("ai", "keras"):
        _framework(asked, dice, theme, image)
    else:
        library = {one["name"]: one["version"] for one in image["components"] if one["kind"] == "library" and one["name"] != "openblas"}
        if theme.kind == "app" and dice.chance(60) and library:
            asked.version_is_of_library = True
            asked.library, version = next(iter(library.items()))
        elif theme.kind == "mpi":
            asked.library = asked.application
    asked.version = _range(dice, theme, version) if dice.chance(15 if theme.loose else 55) else ""
    asked.document = _document(asked, dice, theme)
    return asked if asked.optimised else as_stock(asked)


def as_stock(asked):
    """Without an optimised build neither `opt_build` nor a framework's options apply (dsl.md)."""
    return dataclasses.replace(asked, acc_type="", cpu_type="", cpu="", gpu="", compilers=set(), refused=set(), selectors={})


def _target(asked, dice, theme, image):
    makers = sorted({gpus.code(one).vendor for one in image.get("accelerators", ())})
    if makers and dice.chance(92) or theme.gpu_maker and dice.chance(10):
        asked.acc_type = makers[0] if makers and dice.chance(97) else dice.choice(["nvidia", "amd"])
    family = facts.processor(image["cpu"]).family if "cpu" in image else "x86_64"
    if dice.chance(20 if theme.loose else 45):
        asked.cpu_type = CPU_TYPES[family] if dice.chance(92) else dice.choice(["x86", "arm", "power"])
        if asked.cpu_type == "x86" and dice.chance(25):
            asked.cpu_type = "amd"
    if dice.chance(12):
        asked.cpu = dice.choice(theme.cpus)
    if asked.acc_type and dice.chance(15):
        names = [f"sm_{one}" for one in theme.nvidia] if asked.acc_type == "nvidia" else theme.amd
        asked.gpu = dice.choice(names)


def _framework(asked, dice, theme, image):
    its = {one["name"] for one in image["components"] if one["kind"] == "compiler"}
    asked.compilers = its if dice.chance(92) else set(dice.some(theme.compilers, 0, 2))
    if dice.chance(25):
        asked.selectors = _runtimes(dice, image)
    if theme.kind == "keras" and dice.chance(20):
        asked.selectors = {"backend": image.get("selectors", {}).get("backend", dice.choice(BACKENDS))}


def _runtimes(dice, image):
    """Some that the image has, mostly, or whether there are any."""
    there = [one for one in image["components"] if one["kind"] == "runtime"]
    names = [one["name"] for one in there] if dice.chance(70) else [name for name, _, _ in dice.some(RUNTIMES, 1, 2)]
    how = dice.choice(["any", "any", "role", "names", "names"])
    if how == "any" or not names:
        return {dice.choice(["runtime", "allocator", "openmp"]): "true" if there and dice.chance(70) else "false"}
    return {"allocator" if how == "role" else "runtime": names[0] if how == "role" else "+".join(names)}


def _choices(dice, selectors):
    """As people write them: several as a list or joined."""
    written = dict(selectors)
    for key, value in selectors.items():
        if value in ("true", "false"):
            written[key] = dice.choice([value, value == "true"])
        elif key == "runtime" and dice.chance(60):
            written[key] = value.split("+")
    return written


def _range(dice, theme, version):
    """A version, a series or bounds, which hold the version or nearly."""
    if dice.chance(20):
        version = dice.choice(theme.versions)
    parts = version.split(".")
    series = ".".join(parts[:dice.randint(1, len(parts))])
    another = dice.choice(theme.versions)
    holds = [version, series, f"{parts[0]}.*", f">={version}", f"<={version}", f"=={version}", f">={series}", f"<={series}", f">={parts[0]},<{int(parts[0]) + 1}"]
    may_hold = [f">{version}", f"<{version}", f">{series}", f"!={version}", f">={version} <{another}", "2.1.*", "~=2.1", "~=2.1.3", "~=2.0.1", ">2.1", "2.1", "~=2.1.0"]
    return dice.choice(holds if dice.chance(55) else may_hold)


def _document(asked, dice, theme):
    """As people write it: a whole job or a part of it, in either spelling, scalars as text or as themselves."""
    flag = lambda value: dice.choice([value, value, "true" if value else "false"])
    optimisation = {"enable_opt_build": flag(asked.optimised)} if asked.optimised or dice.chance(70) else {}
    build = {key: value for key, value in (("cpu_type", asked.cpu_type), ("acc_type", asked.acc_type), ("cpu", asked.cpu), ("gpu", asked.gpu)) if value}
    if not asked.acc_type and dice.chance(30):
        build["acc_type"] = dice.choice(["none", "", None])
    if asked.gpu and dice.chance(35):
        del build["acc_type"]  # a GPU is an accelerator of its maker
    if build or dice.chance(30):
        optimisation["opt_build"] = build
    if asked.workload:
        optimisation["workload"] = asked.workload
    if asked.sif or dice.chance(10):
        optimisation["format"] = "sif" if asked.sif else dice.choice(["tag", "oci", ""])
    kind, part, application = _ai(asked, dice, flag) if theme.kind in ("ai", "keras") else _hpc(asked, dice, theme)
    plain = theme.kind == "app" and not (asked.version or asked.library or asked.method) and dice.chance(40)
    if dice.chance(60):
        optimisation["app_type"] = "big_data" if plain else kind
    if not plain:  # else `app_tag` alone names the application
        optimisation[f"app_type-{kind}"] = part
    job = {dice.choice(["optimisation", "optimisation", "optimization"]): optimisation}
    if application:
        job["application"] = application
    return {"job": {**job, "job_options": {"node_count": 2}}} if dice.chance(50) else job


def _version(asked, dice):
    """2.1 may be a number, 2.10 may not."""
    if not asked.version:
        return {"version": dice.choice(["", "*", "latest", None])} if dice.chance(15) else {}
    as_number = asked.version.count(".") == 1 and asked.version.replace(".", "").isdigit() and str(float(asked.version)) == asked.version
    return {"version": float(asked.version) if as_number and dice.chance(40) else asked.version}


def _ai(asked, dice, flag):
    name = asked.application
    choices = _version(asked, dice)
    if asked.method:
        choices["method"] = asked.method
    if asked.compilers and dice.chance(20):
        choices["compilers"] = sorted(asked.compilers)
    else:
        choices.update({one: flag(True) for one in sorted(asked.compilers)})
        without = {one: flag(False) for one in COMPILERS if one not in asked.compilers and dice.chance(10)}
        asked.refused = set(without)
        choices.update(without)
    choices.update(_choices(dice, asked.selectors))
    part = {"config": {"ai_framework": name.upper() if dice.chance(10) else name}}
    if choices or dice.chance(50):
        part[f"ai_framework-{name}"] = choices
    return dice.choice(["ai_training", "ai_training", "ai_inference"]), part, None


def _hpc(asked, dice, theme):
    choices = _version(asked, dice)
    if asked.library:
        choices["library"] = asked.library
    if asked.method:
        choices["method"] = asked.method
    part = {"parallelisation-mpi": choices}
    if dice.chance(60):
        part["config"] = {"parallelisation": "mpi"}
    if theme.kind == "mpi":
        choices["library"] = asked.application
        return "hpc", part, {"threads": 2} if dice.chance(20) else None
    return "hpc", part, {"app_tag": asked.application}
