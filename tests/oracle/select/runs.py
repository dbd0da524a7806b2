"""Clauses 1 to 20 of docs/selection.md: whether an image runs on a host, and suits a question. Each says why not, or ""."""
import facts
import gpus
from facts import processor
from versions import contains

FAMILIES = {"x86": "x86_64", "amd": "x86_64", "arm": "aarch64", "power": "ppc64le"}


def family(image, question, host):
    if image.cpu is None:
        return ""
    its = image.cpu.family
    if host and its != host.cpu.family:
        return f"is for {its}, the host is {host.cpu.family}"
    asked = FAMILIES.get(question.cpu_type)
    big_endian = asked == "ppc64le" and its == "ppc64" and host and host.cpu.family == "ppc64"
    if asked and its != asked and not big_endian:
        return f"is for {its}, asked for {question.cpu_type}"
    if question.cpu_type == "amd" and image.cpu.vendor not in ("generic", "AuthenticAMD"):
        return f"is for {image.cpu.vendor}'s {image.cpu.name}, asked for amd"
    if question.cpu_type == "amd" and image.requires.get("vendor", "") not in ("", "AuthenticAMD"):
        return "needs another maker's processor, asked for amd"
    return ""


def cpu_features(image, _, host):
    return _features(image.cpu, host.cpu, host.features) if host else ""


def _features(target, cpu, there):
    if target is None:
        return ""
    if target.family in ("x86_64", "aarch64") and target.features:
        lacking = target.needs - there
        return f"needs {', '.join(sorted(lacking))} for {target.name}" if lacking else ""
    return "" if target.name in cpu.line else f"is for {target.name}, which {cpu.name} is not"


def vendor(image, _, host):
    needed = image.requires.get("vendor", "")
    return f"needs a processor of {needed}" if host and host.vendor and needed not in ("", host.vendor) else ""


def gpu_code(image, question, host):
    return _gpu_code(image, question, host.gpus) if host else ""


def _gpu_code(image, question, there):
    if not image.declared:
        return ""
    vendors = image.vendors & {question.acc_type} if question.acc_type else image.vendors
    reasons = [_gpu_code_of(image, one, [gpu for gpu in there if gpus.code(gpu).vendor == one]) for one in sorted(vendors)]
    return "" if "" in reasons else "; ".join(reasons) or f"is for no GPU of {question.acc_type}"


def _gpu_code_of(image, maker, there):
    if not there:
        return f"needs a GPU of {maker}"
    found = image.found_of(maker)
    for gpu in there:
        if gpus.best_fit(image.runnable, gpu) == gpus.IMPOSSIBLE:
            return f"declares {' '.join(image.declared)}, which does not run on {gpu}"
        if found and gpus.best_fit(found, gpu) == gpus.IMPOSSIBLE:
            return f"has {' '.join(found)}, which does not run on {gpu}"
    return ""


def driver(image, question, host):
    if not host or not host.driver or "nvidia" not in image.vendors or question.acc_type not in ("", "nvidia"):
        return ""
    its = host.gpus_of("nvidia")
    if not its or _gpu_code_of(image, "nvidia", its):  # then another maker's run it
        return ""
    cuda = image.requires.get("cuda", "")
    least = image.requires.get("driver") or (facts.least_driver(cuda) if cuda else "")
    if least and facts.older(host.driver, least):
        return f"needs driver {least}"
    if cuda and facts.older(host.driver, facts.toolkit_driver(cuda)):
        for gpu in its:
            if only_ptx(image, gpu):
                return f"runs on {gpu} by PTX only, and CUDA {cuda} came with driver {facts.toolkit_driver(cuda)}"
    return ""


def only_ptx(image, gpu):
    return gpus.PTX in (gpus.best_fit(image.runnable, gpu)[0], gpus.best_fit(image.found_of("nvidia"), gpu)[0])


def kernel(image, _, host):
    needed = image.requires.get("kernel", "")
    return f"needs Linux {needed}" if host and host.kernel and needed and facts.older(host.kernel, needed) else ""


def huge_pages(image, _, host):
    settings = ["never", "madvise", "always"]
    needed, there = image.requires.get("transparent_hugepages"), host.huge_pages if host else ""
    return f"needs huge pages by {needed}, the host has {there}" if needed and there and settings.index(there) < settings.index(needed) else ""


def mpi(image, _, host):
    its = image.requires.get("mpi", "")
    if not host or not host.mpi or not its:
        return ""
    (mine, my_version), (there, its_version) = (text.partition("@")[::2] for text in (its, host.mpi))
    if facts.MPI_FAMILY[mine] != facts.MPI_FAMILY[there]:
        return f"has {mine}, the host {there}"
    if mine == "openmpi" and my_version and its_version and my_version.split(".")[0] != its_version.split(".")[0]:
        return f"has {its}, the host {host.mpi}"
    own = image.requires.get("glibc", "")
    return f"has glibc {own}, the host's MPI is bound to {host.glibc}" if own and host.glibc and facts.older(own, host.glibc) else ""


def evidence(image, _, host):
    if image.missing:
        return f"lacks {image.missing[0]}"
    own = image.requires.get("glibc", "")
    if own and image.needed_glibc and facts.older(own, image.needed_glibc):
        return f"needs symbols of glibc {image.needed_glibc} and has {own}"
    lacking = image.exceeding - host.features if host else set()
    return f"has code for {', '.join(sorted(lacking))}" if lacking else ""


def accelerators(image, question, _):
    if not question.acc_type:
        return "has accelerators" if image.declared and question.optimised else ""
    return "" if question.acc_type in image.vendors else f"is not for {question.acc_type}"


def application(image, question, _):
    return "" if image.application == question.application else f"is {image.application}"


def version(image, question, _):
    having = image.components.get(question.library, "") if question.version_is_of_library else image.version
    return "" if having and contains(question.version, having) or not question.version else f"is {having}, asked for {question.version}"


def optimised(image, question, _):
    if not question.optimised:
        return "is optimised" if image.optimised else "has a runtime" if any(one["kind"] == "runtime" for one in image.parts) else ""
    return "is a mapping to a stock image" if image.mapping and not image.optimised else ""


def compilers(image, question, _):
    lacks, has_more = question.compilers - image.compilers, image.compilers - question.compilers - (question.stock - question.refused)
    return "" if not lacks and not has_more else f"has compilers {sorted(image.compilers)}"


def method(image, question, _):
    return "" if question.method in ("", image.method) else f"is by {image.method}"


def _has(image, choice, value):
    """A component by its name, several joined by a plus, or any or none of a kind or role."""
    if value in ("true", "false"):
        there = any(choice in (one["kind"], one.get("role"), one["name"]) for one in image.parts)
        return there == (value == "true")
    return {one["name"] for one in image.parts} >= set(value.split("+"))


def further(image, question, _):
    if question.library and question.version_is_of_library and question.library not in image.components:
        return f"has no {question.library}"
    wrong = [key for key, value in question.selectors.items() if (image.selectors[key] != value if key in image.selectors else not _has(image, key, value))]
    return f"has another {wrong[0]}" if wrong else ""


def asked_cpu(image, question, _):
    if not question.cpu or image.cpu is None:
        return ""
    asked = processor(question.cpu)
    if image.cpu.family != asked.family:
        return f"is for {image.cpu.family}, asked for {question.cpu}"
    lacking = _features(image.cpu, asked, facts.with_aliases(asked.features))
    needed = image.requires.get("vendor", "")
    return lacking or ("" if asked.generic or needed in ("", asked.vendor) else f"needs a processor of {needed}, asked for {question.cpu}")


def asked_gpu(image, question, _):
    return _gpu_code(image, question, [f"{question.acc_type}:{question.gpu}"]) if question.gpu else ""


def sif(image, question, _):
    return "has no SIF" if question.sif and not (image.sif or image.mapping) else ""


def retired(image, _, __):
    return "is retired" if image.retired else ""


def failing(image, question, _):
    return "fails a test" if image.failing and not question.allow_failing else ""


CLAUSES = [family, cpu_features, vendor, gpu_code, driver, kernel, huge_pages, mpi, evidence, accelerators, application, version, optimised, compilers,
           method, further, asked_cpu, asked_gpu, sif, retired, failing]


def fails(image, question, host):
    """Every clause that it fails, with why, in the page's order."""
    return [(clause.__name__, why) for clause in CLAUSES if (why := clause(image, question, host))]


def does(image, question, host):
    """Whether it fails none."""
    return not any(clause(image, question, host) for clause in CLAUSES)
