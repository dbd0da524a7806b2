"""The order of docs/selection.md: which of two images that run and suit is better, and by which preference."""
import facts
import gpus
from facts import is_prerelease
from measured import UNKNOWN, classes, gains

PREFERENCES = ["released", "gain", "measured", "machine code", "optimised", "fewer accelerators", "gpu", "cpu", "newest", "fresh", "fewer components", "cuda", "name", "code", "digest"]


class Order:
    """Of one question on one host, over the images that run and suit."""

    def __init__(self, images, question, host):
        self.question, self.host = question, host
        self.classes = classes(images, question, host) if host else {}
        self.gains = gains(images, question, host) if host and question.optimised else {}
        self.gpus = self._gpus()

    def key(self, image):
        """One entry for each preference; smaller is better."""
        asks_prerelease = is_prerelease(self.question.version)
        return (
            image.prerelease and not asks_prerelease,
            self.gains.get(id(image), UNKNOWN),
            self.classes.get(id(image), float("inf")),
            self.question.optimised and self.is_by_ptx(image),
            self.question.optimised and not image.optimised,
            0 if self.question.acc_type else len(image.declared),
            self.gpu(image),
            self.cpu(image),
            facts.newest_first(image.version),
            self.doubt(image),
            self.unasked(image),
            self.cuda(image),
            image.name, image.code, image.digest,
        )

    def doubt(self, image):
        """0 where nothing speaks against it, 1 where it was not tested on a host like this one."""
        if image.stale or image.untested:
            return 2
        return 0 if not self.host or image.is_tested_like(self.host) else 1

    def unasked(self, image):
        """How many components nobody asked for; what is optimised counts as asked for where that is."""
        choices = self.question.selectors
        named = {self.question.application, self.question.library, *choices, *(name for value in choices.values() for name in value.split("+"))}
        return sum(not (one["name"] in named or one["kind"] in choices or one.get("role") in choices or one["kind"] == "library" and self.question.version_is_of_library
                        or one["kind"] in ("base", "toolchain", "framework", "compiler") or one.get("optimised") and self.question.optimised)
                   for one in image.record.get("components", ()))

    def cuda(self, image):
        """The newest that runs, or that which runs in most places."""
        cuda = image.requires.get("cuda", "")
        if not cuda:
            return (1,)
        least = image.requires.get("driver") or facts.least_driver(cuda)
        return (0, 0 if self.host else facts.oldest_first(least), facts.newest_first(cuda))

    def is_by_ptx(self, image):
        return bool(image.declared and self.gpus) and self.gpu(image)[0][0] == gpus.PTX

    def gpu(self, image):
        """How the code suits the GPU that it suits least, or how far it reaches."""
        if not image.declared:
            return ()
        if not self.gpus:
            return _gpu_reach(image)
        by_maker = [[_fit(image, gpu) for gpu in self.gpus if gpus.code(gpu).vendor == maker] for maker in image.vendors]
        worst = min(max(fits) for fits in by_maker if fits)
        return (worst, _gpu_reach(image) if worst[0] == gpus.VENDOR else ())

    def _gpus(self):
        """Of the host, or of the question where no host is known; of the vendor that is asked for, else all."""
        asked = self.question.acc_type
        if self.host:
            return self.host.gpus_of(asked) if asked else self.host.gpus
        return [f"{asked}:{self.question.gpu}"] if self.question.gpu else []

    def cpu(self, image):
        if self.host:
            return _suits(image.cpu, self.host.ranked_as)
        if self.question.cpu:
            return _suits(image.cpu, facts.processor(self.question.cpu))
        return _cpu_reach(image)


def _fit(image, gpu):
    maker = gpus.code(gpu).vendor
    found = image.found_of(maker)
    declared = gpus.best_fit(image.runnable, gpu)
    return max(declared, gpus.best_fit(found, gpu)) if found else declared


def _suits(target, cpu):
    if target is None:
        return (1,)
    return (0, target.name != cpu.name, -target.level, -target.shared, target.name not in cpu.line, -len(target.ancestors), -len(target.needs))


def _gpu_reach(image):
    capabilities = [gpus.code(one).capability or (0, 0) for one in image.declared]
    alone = any(not gpus.code(one).name for one in image.declared)
    return (not alone, min(capabilities), -len(image.declared))


def _cpu_reach(image):
    if image.cpu is None:
        return (0,)
    return (1, len(image.cpu.needs | image.exceeding), len(image.cpu.ancestors))


def first_difference(one, other):
    """The preference that decides between two keys."""
    return next((name for name, a, b in zip(PREFERENCES, one, other) if a != b), "nothing")
